// One attachment from PostgreSQL to the object store, or back: for the nodes' movers and for `parley attachments move`.
import Cryptography
import Domain
import ObjectStore
import Store
import Workers

/// Copies the variants of a claimed attachment, then turns its row.
struct ObjectTransfer: Sendable {
    enum Outcome: Sendable {
        case moved(byteCount: Int)
        /// The attachment was deleted meanwhile, or its claim has ended. The garbage list has what was copied.
        case abandoned
    }

    private typealias File = (variant: AttachmentVariant, mediaType: String, byteCount: Int, digest: [UInt8])

    /// The length of a claim. Until it ends, no other node moves the attachment or deletes its objects.
    static let leaseSeconds = 60
    /// Between extensions of the claim. A failed one ends the copy, in good time before the claim does.
    private static let extensionInterval = Duration.seconds(15)
    /// The rest of the claim after a failure: until then the failed request has ended.
    private static let releaseSeconds = 5
    /// The same where another try is likely to fail as well, and costs a whole transfer.
    private static let damagedSeconds = 300

    let store: Store
    let objects: ObjectStore

    /// Copies a claimed attachment and turns its row. Keeps the claim meanwhile, and ends it soon after a failure.
    func perform(_ move: AttachmentMove, toObjectStore: Bool) async throws -> Outcome {
        do {
            return try await keepingClaim(
                renewing: Self.extensionInterval, clock: .system,
                renew: { try await store.extendMove(move, leaseSeconds: Self.leaseSeconds) },
                { try await copy(move, toObjectStore: toObjectStore) }) ?? .abandoned
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            let isDamaged = error as? ObjectStoreError == .damaged
            _ = try await store.extendMove(
                move, leaseSeconds: isDamaged ? Self.damagedSeconds : Self.releaseSeconds)
            throw error
        }
    }

    private func copy(_ move: AttachmentMove, toObjectStore: Bool) async throws -> Outcome {
        for file in move.variants {
            if !toObjectStore {
                try await restore(file, of: move)
            } else if try await !put(file, of: move) {
                return .abandoned
            }
        }
        guard try await store.finishMove(move, toObjectStore: toObjectStore) else { return .abandoned }
        return .moved(byteCount: move.variants.reduce(0) { $0 + $1.byteCount })
    }

    /// Returns false if the chunks are gone.
    private func put(_ file: File, of move: AttachmentMove) async throws -> Bool {
        struct ChunksGone: Error {}
        var number = 0
        do {
            try await objects.put(
                file.variant.objectKey(of: move.attachment), contentType: file.mediaType,
                byteCount: file.byteCount, digest: file.digest
            ) {
                guard let chunk = try await store.chunk(number, of: file.variant, move.attachment) else {
                    throw ChunksGone()
                }
                number += 1
                return chunk
            }
            return true
        } catch is ChunksGone {
            return false
        }
    }

    private func restore(_ file: File, of move: AttachmentMove) async throws {
        guard file.byteCount > 0 else { return }
        var pending: [UInt8] = []
        var number = 0
        var hash = SHA256()
        try await objects.get(file.variant.objectKey(of: move.attachment), range: 0..<file.byteCount) { piece in
            hash.update(piece)
            pending += piece
            while pending.count >= AttachmentSizes.chunkByteCount {
                let chunk = Array(pending.prefix(AttachmentSizes.chunkByteCount))
                pending.removeFirst(chunk.count)
                try await store.restoreChunk(chunk, number: number, of: file.variant, move)
                number += 1
            }
        }
        guard hash.finalize() == file.digest else { throw ObjectStoreError.damaged }
        if !pending.isEmpty { try await store.restoreChunk(pending, number: number, of: file.variant, move) }
    }
}
