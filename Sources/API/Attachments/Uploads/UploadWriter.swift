// Stores a body as it arrives: cuts it at the boundaries of chunks, and makes the last piece durable.
import Domain
import HTTPTypes
import NIOCore
import Store

/// Writes the bytes of one request to an upload. Holds at most one chunk.
struct UploadWriter {
    private let store: Store
    private let limits: Limits
    private let metrics: TransferMetrics
    private(set) var claim: UploadClaim
    /// Bytes that are not stored yet.
    private var pending: [UInt8] = []

    init(_ store: Store, _ claim: UploadClaim, limits: Limits, metrics: TransferMetrics) {
        self.store = store
        self.claim = claim
        self.limits = limits
        self.metrics = metrics
    }

    /// Checks a declared length of the body before a byte of it is read.
    func checkLength(_ byteCount: Int?) throws(Problem) {
        if let byteCount { try checkRoom(byteCount) }
    }

    /// Adds bytes. Stores each full chunk once more bytes follow, so that the last piece is left for `finish`.
    mutating func write(_ bytes: ByteBuffer) async throws {
        try checkRoom(bytes.readableBytes)
        var rest = bytes
        while rest.readableBytes > 0 {
            if room == 0 { try await storePending(isDurable: false) }
            guard let part = rest.readSlice(length: min(room, rest.readableBytes)) else { break }
            part.withUnsafeReadableBytes { pending.append(contentsOf: $0) }
        }
    }

    /// Stores all bytes that have arrived, durable. Runs to its end even if the client is gone.
    mutating func finish() async throws {
        if !pending.isEmpty { try await storePending(isDurable: true) }
    }

    /// Takes back what this request has stored, because a refused one keeps and counts nothing.
    /// - Parameter offset: where the request began. Nil: it began the upload, which is deleted.
    func undo(to offset: Int?) async throws {
        try await uncancelled { [store, claim] in try await store.undoUpload(claim, to: offset) }
    }

    /// Bytes that the chunk at the offset can still hold.
    private var room: Int {
        AttachmentSizes.chunkByteCount - claim.offset % AttachmentSizes.chunkByteCount - pending.count
    }

    private func checkRoom(_ byteCount: Int) throws(Problem) {
        let end = claim.offset + pending.count + byteCount
        if end > claim.byteCountMax {
            throw claim.isBoundByQuota ? .quotaExceeded : .attachmentTooLarge(limits)
        }
        if let length = claim.length, end > length {
            throw .invalid(
                HTTPField.Name.uploadLength.rawName, "The upload was declared with \(length) bytes, and more were sent."
            )
        }
    }

    private mutating func storePending(isDurable: Bool) async throws {
        let (bytes, before) = (pending, claim)
        pending.removeAll(keepingCapacity: true)
        claim = try await uncancelled { [store] in
            var claim = before
            try await store.append(bytes, to: &claim, isDurable: isDurable)
            return claim
        }
        metrics.bytesReceived.add(bytes.count)
    }
}

/// Runs a write to its end, and waits for it, even if this task is cancelled, as at the end of a node's drain: otherwise
/// it would be unknown whether the last bytes are stored.
func uncancelled<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Task { try await body() }.value
}

extension Problem {
    static let quotaExceeded = Problem(
        .quotaExceeded, "Your attachments would take more bytes than your account may store. Delete some first.")
}
