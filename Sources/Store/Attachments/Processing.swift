// Work on files whose bytes are all here: metadata, thumbnail, virus scan. A claim is a lease, so that another node
// finishes what a dead node began.
import Domain
import Postgres

/// A complete upload to be checked by this node until its lease ends.
package struct AttachmentJob: Sendable {
    package let attachment: AttachmentID
    /// Grows with each claim. Calls with an older number throw 409 `upload_superseded`.
    package let claim: Int64
    /// Bytes as uploaded.
    package let byteCount: Int
    package let declaredType: String?
    /// From 1. More than 1: nodes claimed it before and recorded no outcome, mostly because they died.
    package let attempt: Int
    /// Whether the digest of the bytes as uploaded is stored.
    package let isHashed: Bool
    package let owner: UserID
}

package struct StoredVariant: Sendable {
    package var mediaType: String
    package var byteCount: Int
    /// SHA-256.
    package var digest: [UInt8]
    package init(mediaType: String, byteCount: Int, digest: [UInt8]) {
        self.mediaType = mediaType
        self.byteCount = byteCount
        self.digest = digest
    }
}

/// What the checks found. The bytes of `cleaned` and `thumbnail` have been written by `putChunk`.
package struct CheckedAttachment: Sendable {
    /// SHA-256 of the bytes as uploaded.
    package var uploadedDigest: [UInt8]
    /// The variant that is served.
    package var served: StoredVariant
    /// Whether the chunks of `.cleaned` replace those of the original.
    package var usesCleaned = false
    /// As displayed; nil if the file is no picture that can be read.
    package var width: Int?
    package var height: Int?
    package var thumbhash: [UInt8]?
    /// It is nil without one; a client's own thumbnail wins over it.
    package var thumbnail: StoredVariant?

    package init(uploadedDigest: [UInt8], served: StoredVariant) {
        self.uploadedDigest = uploadedDigest
        self.served = served
    }
}

extension Store {
    /// Claims one attachment in state `checking`. Nil if another node has it or it is no longer in that state.
    package func claimAttachment(_ id: AttachmentID, leaseSeconds: Int) async throws -> AttachmentJob? {
        try await claimAttachments(id, limit: 1, leaseSeconds: leaseSeconds).first
    }

    /// Claims attachments in state `checking` whose lease or wait has ended, the oldest first.
    package func claimAttachments(limit: Int, leaseSeconds: Int) async throws -> [AttachmentJob] {
        try await claimAttachments(nil, limit: limit, leaseSeconds: leaseSeconds)
    }

    private func claimAttachments(_ id: AttachmentID?, limit: Int, leaseSeconds: Int) async throws -> [AttachmentJob] {
        try await rows("attachment_claim", [.uuid(orNull: id?.uuid), .int(limit), .int(leaseSeconds)]) {
            AttachmentJob(
                attachment: AttachmentID(try $0.uuid(0)), claim: try $0.int8(1), byteCount: Int(try $0.int8(2)),
                declaredType: try $0.textOrNull(3), attempt: Int(try $0.int2(4)), isHashed: try $0.bool(5),
                owner: UserID(try $0.uuid(6)))
        }
    }

    /// Extends the lease, and stores the digest of the uploaded bytes if it is known.
    package func extendClaim(_ job: AttachmentJob, leaseSeconds: Int, uploadedDigest: [UInt8]?) async throws {
        try await call(
            "attachment_extend",
            [.id(job.attachment), .int8(job.claim), .int(leaseSeconds), .bytes(orNull: uploadedDigest)])
    }

    /// Writes chunk `number` of a variant; all but the last have `AttachmentSizes.chunkByteCount` bytes. Chunk 0
    /// deletes what an earlier claim left of that variant.
    package func putChunk(_ bytes: [UInt8], number: Int, of variant: AttachmentVariant, _ job: AttachmentJob)
        async throws
    {
        try await putChunk(bytes, number, of: variant, job.attachment, claim: job.claim, state: .checking)
    }

    func putChunk(
        _ bytes: [UInt8], _ number: Int, of variant: AttachmentVariant, _ id: AttachmentID, claim: Int64,
        state: AttachmentState
    ) async throws {
        try await fileWrites.call(
            "attachment_put_chunk",
            [
                .id(id), .int8(claim), .int4(Int32(state.rawValue)), .int2(variant.rawValue), .int(number),
                .bytes(bytes),
            ])
    }

    /// State `ready`. In one transaction: the cleaned chunks replace the original's, and the thumbnail counts.
    package func finishAttachment(_ job: AttachmentJob, _ result: CheckedAttachment) async throws {
        try await fileWrites.call(
            "attachment_ready",
            [
                .id(job.attachment), .int8(job.claim), .bytes(result.uploadedDigest), .text(result.served.mediaType),
                .int8(Int64(result.served.byteCount)), .bytes(result.served.digest), .bool(result.usesCleaned),
                .int4(orNull: result.width.map { Int32($0) }), .int4(orNull: result.height.map { Int32($0) }),
                .bytes(orNull: result.thumbhash), .text(orNull: result.thumbnail?.mediaType),
                .int4(orNull: result.thumbnail.map { Int32($0.byteCount) }),
                result.thumbnail.map { .bytes($0.digest) } ?? .null,
            ])
    }

    /// State `refused`: the bytes are deleted, and the audit log gets a row.
    package func refuseAttachment(_ job: AttachmentJob, reason: String) async throws {
        try await fileWrites.call("attachment_reject", [.id(job.attachment), .int8(job.claim), .text(reason)])
    }

    /// Ends the claim; the attachment can be claimed again after `seconds`, as at the first attempt.
    package func postponeAttachment(_ job: AttachmentJob, seconds: Int) async throws {
        try await call("attachment_postpone", [.id(job.attachment), .int8(job.claim), .int(seconds)])
    }
}
