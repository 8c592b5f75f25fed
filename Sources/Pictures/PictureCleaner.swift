// The second pass over a picture: the same bytes without metadata. Pixels, colour profile, animation and orientation
// stay; location, camera, embedded previews, comments and whatever follows the picture's end do not.

/// Reads the same bytes that `PictureScanner` has read, in pieces of any size. Holds at most 64 KiB.
package struct PictureCleaner: Sendable {
    private let byteCount: Int
    private var walk: any PictureWalk
    private var edits = Edits(isWriting: true)

    package init(_ picture: ScannedPicture) {
        guard let walk = walking(picture.mediaType, webP: picture.webP) else {
            preconditionFailure("only types with a walk are scanned")
        }
        self.walk = walk
        byteCount = picture.cleanByteCount
    }

    /// Appends the part of the next piece that stays: at most the piece's size and 64 KiB. Throws only if the bytes are
    /// not those that were scanned.
    package mutating func clean(_ bytes: [UInt8], into output: inout [UInt8]) throws(UnreadablePicture) {
        swap(&edits.output, &output)
        defer { swap(&edits.output, &output) }
        try walk.read(bytes, &edits)
    }

    /// All bytes are written. Throws only if the bytes were not those that were scanned.
    package func finish() throws(UnreadablePicture) {
        guard edits.byteCount == byteCount else { throw UnreadablePicture("it has changed since it was scanned") }
    }
}

/// A whole picture in memory, without metadata.
package struct CleanPicture: Sendable, Equatable {
    package let mediaType: MediaType
    package let header: PictureHeader
    package let bytes: [UInt8]

    /// Cleans a small picture, such as a client's own thumbnail. Throws for every other kind of file.
    package init(cleaning bytes: [UInt8]) throws(UnreadablePicture) {
        guard let type = MediaType.sniff(bytes), var scanner = PictureScanner(type) else {
            throw UnreadablePicture("it is not a JPEG, PNG, GIF or WebP picture")
        }
        try scanner.scan(bytes)
        let picture = try scanner.finish()
        mediaType = type
        header = picture.header
        guard !picture.isClean else {
            self.bytes = bytes
            return
        }
        var cleaner = PictureCleaner(picture)
        var output: [UInt8] = []
        output.reserveCapacity(picture.cleanByteCount)
        try cleaner.clean(bytes, into: &output)
        try cleaner.finish()
        self.bytes = output
    }
}
