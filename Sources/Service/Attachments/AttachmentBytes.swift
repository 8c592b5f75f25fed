// The bytes of an attachment as its checks read and write them: chunk by chunk.
import Cryptography
import Domain
import Store

/// A variant's bytes in chunks. Few bytes are in memory. Many are read from the database on each pass.
struct AttachmentBytes: AsyncSequence, Sendable {
    /// The size up to which all bytes are kept in memory, so that each check reads them from there.
    static let heldByteCountMax = 4 * 1024 * 1024

    /// A chunk is not in the database although it should be.
    struct MissingChunk: Error, CustomStringConvertible {
        let number: Int
        var description: String { "chunk \(number) is missing" }
    }

    let store: Store
    let attachment: AttachmentID
    let variant: AttachmentVariant
    let byteCount: Int
    /// All chunks, or nil if they are too many.
    var held: [[UInt8]]?

    /// Returns nil after the last chunk.
    func chunk(_ number: Int) async throws -> [UInt8]? {
        guard number * AttachmentSizes.chunkByteCount < byteCount else { return nil }
        if let held { return held[number] }
        guard let bytes = try await store.chunk(number, of: variant, attachment) else {
            throw MissingChunk(number: number)
        }
        return bytes
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let bytes: AttachmentBytes
        var number = 0

        mutating func next() async throws -> [UInt8]? {
            defer { number += 1 }
            return try await bytes.chunk(number)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: self) }
}

/// Writes a variant's bytes: cuts them into chunks and computes their digest.
struct VariantWriter {
    private let store: Store
    private let job: AttachmentJob
    private let variant: AttachmentVariant
    /// Bytes not yet written. Append here, then call `writeFullChunks`.
    var pending: [UInt8] = []
    private var digest = SHA256()
    private var byteCount = 0
    private var number = 0
    private var held: [[UInt8]]?

    /// - Parameter byteCount: the expected size; it decides whether the bytes are kept in memory, too.
    init(_ variant: AttachmentVariant, of job: AttachmentJob, byteCount: Int, store: Store) {
        (self.variant, self.job, self.store) = (variant, job, store)
        held = byteCount <= AttachmentBytes.heldByteCountMax ? [] : nil
    }

    mutating func writeFullChunks() async throws {
        let size = AttachmentSizes.chunkByteCount
        while pending.count >= size {
            try await write(Array(pending.prefix(size)))
            pending.removeFirst(size)
        }
    }

    /// Writes the rest. Returns the variant as it is stored, and its bytes.
    mutating func finish(mediaType: String) async throws -> (stored: StoredVariant, bytes: AttachmentBytes) {
        try await writeFullChunks()
        if !pending.isEmpty { try await write(pending) }
        return (
            StoredVariant(mediaType: mediaType, byteCount: byteCount, digest: digest.finalize()),
            AttachmentBytes(
                store: store, attachment: job.attachment, variant: variant, byteCount: byteCount, held: held)
        )
    }

    private mutating func write(_ chunk: [UInt8]) async throws {
        try await store.putChunk(chunk, number: number, of: variant, job)
        digest.update(chunk)
        held?.append(chunk)
        byteCount += chunk.count
        number += 1
    }
}
