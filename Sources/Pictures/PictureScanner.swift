// The first pass over a picture: its header, and the size that it will have without metadata.
//
// Why two passes: a WebP file states its size and the presence of metadata in its first 30 bytes, and the digest of the
// cleaned bytes covers them. The first pass writes nothing, so an unreadable or already clean picture costs no writes.

/// Reads a picture in pieces. Holds at most 64 KiB.
///
///     guard var scanner = PictureScanner(type) else { … }            // not a type with pictures to clean
///     for piece in pieces { try scanner.scan(piece) }
///     let picture = try scanner.finish()                             // throws: keep the bytes as a file
///     guard !picture.isClean else { … }                              // keep the bytes as they are
///     var cleaner = PictureCleaner(picture)
///     for piece in pieces { try cleaner.clean(piece, into: &output) }
///     try cleaner.finish()
package struct PictureScanner: Sendable {
    private let mediaType: MediaType
    private var walk: any PictureWalk
    private var edits = Edits(isWriting: false)
    private var byteCount = 0

    /// Returns nil for types that are kept as they are: see `MediaType.isDrawn`.
    package init?(_ mediaType: MediaType) {
        guard let walk = walking(mediaType, webP: nil) else { return nil }
        self.mediaType = mediaType
        self.walk = walk
    }

    /// Reads the next piece, of any size. Must not be called again after it threw.
    package mutating func scan(_ bytes: [UInt8]) throws(UnreadablePicture) {
        byteCount += bytes.count
        try walk.read(bytes, &edits)
    }

    /// The picture is complete. Pictures that end too early count as readable if their first pixels are there.
    package mutating func finish() throws(UnreadablePicture) -> ScannedPicture {
        let (header, webP) = try walk.finish()
        // The sizes differ too where a picture was cut off inside of something that was not kept yet.
        let isClean = !edits.isChanged && edits.byteCount == byteCount && webP?.isChanged != true
        return ScannedPicture(
            mediaType: mediaType, header: header, cleanByteCount: edits.byteCount, isClean: isClean, webP: webP)
    }
}

package struct ScannedPicture: Sendable, Equatable {
    package let mediaType: MediaType
    package let header: PictureHeader
    /// Size without metadata.
    package let cleanByteCount: Int
    /// Whether the bytes are already as `PictureCleaner` would write them.
    package let isClean: Bool
    let webP: WebPHead?
}
