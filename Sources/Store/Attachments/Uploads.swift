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

/// The right of one request to append bytes to an upload. Any later request for the same upload (PUT, PATCH, HEAD)
/// ends it: then `append` throws 409 `upload_superseded`.
package struct UploadTurn: Sendable {
    package let attachment: AttachmentID
    /// Grows with each request for the upload, on any node.
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
    case receiving(UploadTurn)
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
    case receiving(UploadTurn)
    case complete
    /// The offset that the client must continue from.
    case offsetMismatch(Int)
}

extension Store {
    /// Begins an upload, or begins an unfinished one anew: bytes that it had are deleted. Refuses with 409 `id_taken`
    /// an id of another account, 413 `attachment_too_large` or 403 `quota_exceeded` a declared length or a full quota.
    package func beginUpload(
        _ id: AttachmentID, owner: UserID, name: String, declaredType: String?, length: Int?, rules: UploadRules
    ) async throws -> UploadStart {
        fatalError("not built yet")
    }

    /// Continues an upload at `offset`. Throws 404 `attachment_not_found` for another account's, 422 for a length other
    /// than the declared one.
    package func resumeUpload(
        _ id: AttachmentID, owner: UserID, offset: Int, length: Int?, rules: UploadRules
    ) async throws -> UploadResumption {
        fatalError("not built yet")
    }

    /// Returns the offset, durable, and ends the request that was appending. Throws 404.
    package func uploadProgress(_ id: AttachmentID, owner: UserID) async throws -> UploadProgress {
        fatalError("not built yet")
    }

    /// Appends bytes that end at the latest at the next multiple of `AttachmentSizes.chunkByteCount`. Moves
    /// `turn.offset`. Without `isDurable` the commit does not wait for the disk; a later durable one covers it.
    package func append(_ bytes: [UInt8], to turn: inout UploadTurn, isDurable: Bool) async throws {
        fatalError("not built yet")
    }

    /// Makes what was appended durable. For a request that ends without a last piece.
    package func flushUpload(_ turn: UploadTurn) async throws { fatalError("not built yet") }

    /// Marks the upload as complete: state `checking`. Checks the declared length (422) and the quota (403; then the
    /// upload is deleted). The caller claims it next (`claimAttachment`).
    package func finishUpload(_ turn: UploadTurn, rules: UploadRules) async throws { fatalError("not built yet") }
}
