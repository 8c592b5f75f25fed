// Uploads: how the bytes of an attachment arrive. Reading is in Downloads.swift, the work on complete files in
// Processing.swift, deletion and moves in Cleanup.swift.
import Domain
import Postgres

/// The limits of uploads, from the settings.
package struct UploadRules: Sendable {
    package var byteCountMax: Int
    package var quotaByteCount: Int
    package var unusedCountMax: Int
    package var unusedHours: Int

    package init(byteCountMax: Int, quotaByteCount: Int, unusedCountMax: Int, unusedHours: Int) {
        self.byteCountMax = byteCountMax
        self.quotaByteCount = quotaByteCount
        self.unusedCountMax = unusedCountMax
        self.unusedHours = unusedHours
    }
}

/// The right of one request to append bytes to an upload. Any later PUT or PATCH for the same upload ends it:
/// then `append` throws 409 `upload_superseded`.
package struct UploadClaim: Sendable {
    package let attachment: AttachmentID
    /// Grows with each PUT and PATCH of the upload, on any node.
    package let number: Int64
    /// Bytes stored so far.
    package var offset: Int
    /// The total that a client has declared.
    package let length: Int?
    /// The largest total that the size limit and the account's quota permit.
    package let byteCountMax: Int
    /// Whether the quota sets `byteCountMax`: then one byte more is 403 `quota_exceeded`, otherwise 413
    /// `attachment_too_large`.
    package let isBoundByQuota: Bool
}

package enum UploadStart: Sendable {
    case receiving(UploadClaim)
    /// All bytes arrived earlier (state checking, ready or refused). `digest` is the SHA-256 of the bytes as uploaded;
    /// nil while a node still computes it.
    case complete(byteCount: Int, digest: [UInt8]?)
}

package struct UploadProgress: Sendable {
    package var offset: Int
    package var length: Int?
    package var isComplete: Bool
}

package enum UploadResumption: Sendable {
    case receiving(UploadClaim)
    case complete
    /// The offset that the client must continue from.
    case offsetMismatch(Int)
}

extension Store {
    /// Begins an upload. An unfinished one with this id starts again from 0 bytes. Refuses with 409 `id_taken`
    /// an id of another account, 413 `attachment_too_large` or 403 `quota_exceeded` a declared length or a full quota.
    package func beginUpload(
        _ id: AttachmentID, owner: UserID, name: String, declaredType: String?, length: Int?, rules: UploadRules
    ) async throws -> UploadStart {
        try await row(
            "attachment_begin",
            [.id(id), .id(owner), .text(name), .text(orNull: declaredType), .int8(orNull: length)] + rules.parameters
        ) { row in
            guard let number = try row.int8OrNull(0) else {
                return .complete(byteCount: Int(try row.int8(3)), digest: try row.bytesOrNull(4))
            }
            return .receiving(
                UploadClaim(
                    attachment: id, number: number, offset: 0, length: length, byteCountMax: Int(try row.int8(1)),
                    isBoundByQuota: try row.bool(2)))
        }
    }

    /// Continues an upload at `offset`. Throws 404 `attachment_not_found` for another account's, 422 for a length other
    /// than the declared one.
    package func resumeUpload(
        _ id: AttachmentID, owner: UserID, offset: Int, length: Int?, rules: UploadRules
    ) async throws -> UploadResumption {
        try await row(
            "attachment_resume", [.id(id), .id(owner), .int8(Int64(offset)), .int8(orNull: length)] + rules.parameters
        ) { row in
            guard try row.int2(1) == AttachmentState.receiving.rawValue else { return .complete }
            guard let number = try row.int8OrNull(0) else { return .offsetMismatch(Int(try row.int8(2))) }
            return .receiving(
                UploadClaim(
                    attachment: id, number: number, offset: offset, length: try row.int8OrNull(3).map { Int($0) },
                    byteCountMax: Int(try row.int8(4)), isBoundByQuota: try row.bool(5)))
        }
    }

    /// Returns the offset, durable. It may still grow while a broken request stores what it has sent. Throws 404.
    package func uploadProgress(_ id: AttachmentID, owner: UserID) async throws -> UploadProgress {
        try await row("attachment_progress", [.id(id), .id(owner)]) { row in
            UploadProgress(
                offset: Int(try row.int8(0)), length: try row.int8OrNull(1).map { Int($0) },
                isComplete: try row.bool(2))
        }
    }

    /// Appends bytes that end at the latest at the next multiple of `AttachmentSizes.chunkByteCount`. Moves
    /// `claim.offset`. Without `isDurable` the commit does not wait for the disk; a later durable one covers it.
    package func append(_ bytes: [UInt8], to claim: inout UploadClaim, isDurable: Bool) async throws {
        try await fileWrites.call(
            "attachment_append",
            [.id(claim.attachment), .int8(claim.number), .int8(Int64(claim.offset)), .bytes(bytes), .bool(isDurable)])
        claim.offset += bytes.count
    }

    /// Takes back what a refused request has appended. Nil as `offset`: the request began the upload, which is deleted.
    /// Does nothing if the claim has ended.
    package func undoUpload(_ claim: UploadClaim, to offset: Int?) async throws {
        try await call("attachment_undo", [.id(claim.attachment), .int8(claim.number), .int8(orNull: offset)])
    }

    /// Makes what was appended durable. For a request that ends without a last piece.
    package func flushUpload(_ claim: UploadClaim) async throws {
        try await fileWrites.call("attachment_flush", [.id(claim.attachment), .int8(claim.number)])
    }

    /// Marks the upload as complete: state `checking`. Checks the declared length (422) and the quota (403; then the
    /// upload is deleted). The caller claims it next (`claimAttachment`).
    package func finishUpload(_ claim: UploadClaim, rules: UploadRules) async throws {
        let isFinished = try await value(
            "attachment_finish", [.id(claim.attachment), .int8(claim.number)] + rules.parameters.dropLast()
        ) { try $0.bool(0) }
        guard isFinished else {
            throw Problem(
                .quotaExceeded,
                "Your attachments may have \(rules.quotaByteCount) bytes together. The upload was deleted.")
        }
    }
}

extension UploadRules {
    /// The parameters are in the order of the SQL functions.
    fileprivate var parameters: [Parameter] {
        [
            .int8(Int64(byteCountMax)), .int8(Int64(quotaByteCount)), .int4(Int32(clamping: unusedCountMax)),
            .int4(Int32(clamping: unusedHours * 3600)),
        ]
    }
}

extension Parameter {
    fileprivate static func int8(orNull value: Int?) -> Parameter { int8(orNull: value.map { Int64($0) }) }
}
