// Reads the bytes of a stored file piece by piece, from the database or from the object store.
import Domain
import NIOCore
import Store
import Transport

/// Reads a file in pieces of a chunk at most. A download holds one piece, and one that is being read.
struct FileSource: Sendable {
    private let store: Store
    private let objects: (any ObjectAccess)?
    private let reader: AttachmentReader
    private var file: StoredFile

    init(_ file: StoredFile, _ reader: AttachmentReader, store: Store, objects: (any ObjectAccess)?) {
        self.file = file
        self.reader = reader
        self.store = store
        self.objects = objects
    }

    /// Reads the first piece of a range: up to the end of its chunk.
    mutating func read(_ range: Range<Int>) async throws -> ByteBuffer {
        guard !range.isEmpty else { return ByteBuffer() }
        if let bytes = try await readOnce(range) { return bytes }
        // The bytes have moved to the other store, or are deleted. Opening the file again tells which.
        let again = try await store.openAttachment(file.attachment, variant: file.variant, for: reader)
        guard again.digest == file.digest else { throw Problem.attachmentNotFound }
        file = again
        guard let bytes = try await readOnce(range) else { throw Problem.attachmentNotFound }
        return bytes
    }

    /// Writes a range whose first piece has been read. Reads the next piece while the client receives the last one.
    /// - Parameter sent: called after each piece with its size. Throws to end the download.
    mutating func write(
        _ range: Range<Int>, first: ByteBuffer, to writer: BodyWriter, sent: (Int) throws -> Void
    ) async throws {
        var (piece, rest) = (first, range.dropFirst(first.readableBytes))
        while !rest.isEmpty {
            let (source, wanted) = (self, rest)
            async let following = source.reading(wanted)
            try await writer.write(piece)
            try sent(piece.readableBytes)
            (self, piece) = try await following
            rest = rest.dropFirst(piece.readableBytes)
        }
        if piece.readableBytes > 0 { try await writer.write(piece) }
        try sent(piece.readableBytes)
    }

    private func reading(_ range: Range<Int>) async throws -> (FileSource, ByteBuffer) {
        var source = self
        let bytes = try await source.read(range)
        return (source, bytes)
    }

    /// Returns nil if the bytes are not where the file says.
    private func readOnce(_ range: Range<Int>) async throws -> ByteBuffer? {
        let size = AttachmentSizes.chunkByteCount
        let number = range.lowerBound / size
        let piece = range.clamped(to: number * size..<(number + 1) * size)
        guard file.isInObjectStore else {
            guard let chunk = try await store.chunk(number, of: file.variant, file.attachment) else { return nil }
            let part = piece.lowerBound - number * size..<piece.upperBound - number * size
            guard part.upperBound <= chunk.count else { throw Problem.incompleteFile(file) }
            return ByteBuffer(bytes: chunk[part])
        }
        guard let objects else { throw Problem.objectStoreUnavailable }
        let bytes: [UInt8]?
        do {
            bytes = try await objects.read(file.objectKey, piece)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Problem.objectStoreUnavailable
        }
        guard let bytes else { return nil }
        guard bytes.count == piece.count else { throw Problem.incompleteFile(file) }
        return ByteBuffer(bytes: bytes)
    }
}

extension Problem {
    fileprivate static let objectStoreUnavailable = Problem(
        .unavailable, "The store of files is unavailable. Retry after the seconds in Retry-After.", retryAfterS: 5)

    fileprivate static func incompleteFile(_ file: StoredFile) -> Problem {
        Problem(.internalError, "attachment \(file.attachment) has fewer bytes in its store than in its row")
    }
}
