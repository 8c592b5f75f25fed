// The files of a staged archive: what they are, and pictures without metadata.
import Cryptography
import Domain
import Pictures
import Store

/// Reads the files of an archive that are new here, before they become visible. Their types are those of their bytes,
/// whatever the archive says, and pictures lose their metadata, as after an upload. Holds a piece of a file at a time.
struct ImportedFiles {
    /// Files of which the first bytes are read at a time.
    private static let pageCount: Int32 = 100
    /// The type of files that the service does not recognise.
    private static let unknownType = "application/octet-stream"

    let store: Store
    let id: ImportID

    /// Throws `ImportFailure` for a thumbnail that is no picture.
    func prepare() async throws {
        var last: AttachmentID?
        while true {
            let page = try await store.importedFiles(of: id, after: last, limit: Self.pageCount)
            guard let end = page.last else { return }
            var facts: [ImportedFileFacts] = []
            for file in page {
                if file.variant == .original {
                    facts.append(try await prepare(file))
                } else {
                    try await prepareThumbnail(file)
                }
            }
            try await store.put(facts, of: id)
            last = end.attachment
        }
    }

    private func prepare(_ file: ImportedFile) async throws -> ImportedFileFacts {
        let type = MediaType.sniff(file.head)
        var facts = ImportedFileFacts(attachment: file.attachment, mediaType: type?.rawValue ?? Self.unknownType)
        guard let type, let picture = try await scan(file, type) else { return facts }
        if picture.header.isDrawable { (facts.width, facts.height) = (picture.header.width, picture.header.height) }
        if !picture.isClean { try await clean(file, picture) }
        return facts
    }

    /// Returns nil for a file that is no picture that can be read: it is kept as it is.
    private func scan(_ file: ImportedFile, _ type: MediaType) async throws -> ScannedPicture? {
        guard var scanner = PictureScanner(type) else { return nil }
        do {
            for try await piece in pieces(of: file) { try scanner.scan(piece) }
            return try scanner.finish()
        } catch is UnreadablePicture {
            return nil
        }
    }

    private func clean(_ file: ImportedFile, _ picture: ScannedPicture) async throws {
        var cleaner = PictureCleaner(picture)
        var writer = Writer(store: store, id: id, file: file)
        for try await piece in pieces(of: file) {
            try cleaner.clean(piece, into: &writer.pending)
            try await writer.writeFullPieces()
        }
        try cleaner.finish()
        try await writer.finish(mediaType: picture.mediaType)
    }

    private func prepareThumbnail(_ file: ImportedFile) async throws {
        var bytes: [UInt8] = []
        for try await piece in pieces(of: file) { bytes += piece }
        guard [.jpeg, .png, .webp].contains(MediaType.sniff(bytes)), let picture = try? CleanPicture(cleaning: bytes)
        else {
            throw ImportFailure.badLine(
                file.line, "The thumbnail of this attachment must be a JPEG, PNG or WebP picture that can be read.")
        }
        var writer = Writer(store: store, id: id, file: file)
        writer.pending = picture.bytes
        try await writer.finish(mediaType: picture.mediaType)
    }

    private func pieces(of file: ImportedFile) -> Pieces { Pieces(store: store, id: id, file: file) }
}

/// The bytes of a staged file, in the pieces in which the archive has them.
private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
    let store: Store
    let id: ImportID
    let file: ImportedFile
    private var last: Int32 = -1

    init(store: Store, id: ImportID, file: ImportedFile) {
        (self.store, self.id, self.file) = (store, id, file)
    }

    func makeAsyncIterator() -> Pieces { self }

    mutating func next() async throws -> [UInt8]? {
        guard let piece = try await store.readImportedFile(file, of: id, after: last) else { return nil }
        last = piece.number
        return piece.bytes
    }
}

/// Stages the bytes that take the place of a file's.
private struct Writer {
    let store: Store
    let id: ImportID
    let file: ImportedFile
    /// Bytes that are not written yet.
    var pending: [UInt8] = []
    private var digest = SHA256()
    private var byteCount = 0
    private var number: Int32 = 0

    init(store: Store, id: ImportID, file: ImportedFile) {
        (self.store, self.id, self.file) = (store, id, file)
    }

    mutating func writeFullPieces() async throws {
        let size = AttachmentSizes.chunkByteCount
        while pending.count >= size {
            try await write(Array(pending.prefix(size)))
            pending.removeFirst(size)
        }
    }

    mutating func finish(mediaType: MediaType) async throws {
        try await writeFullPieces()
        if !pending.isEmpty { try await write(pending) }
        try await store.replaceImportedFile(
            file, of: id,
            by: StoredVariant(mediaType: mediaType.rawValue, byteCount: byteCount, digest: digest.finalize()))
    }

    private mutating func write(_ bytes: [UInt8]) async throws {
        try await store.writeImportedFile(bytes, number: number, file, of: id)
        digest.update(bytes)
        byteCount += bytes.count
        number += 1
    }
}
