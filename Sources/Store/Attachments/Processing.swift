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
    /// Nil without one; a client's own thumbnail wins over it.
    package var thumbnail: StoredVariant?

    package init(uploadedDigest: [UInt8], served: StoredVariant) {
        self.uploadedDigest = uploadedDigest
        self.served = served
    }
}

extension Store {
    /// Claims one attachment in state `checking`. Nil if another node has it or it is no longer in that state.
    package func claimAttachment(_ id: AttachmentID, leaseSeconds: Int) async throws -> AttachmentJob? {
        fatalError("not built yet")
    }

    /// Claims attachments in state `checking` whose lease or wait has ended, the oldest first.
    package func claimAttachments(limit: Int, leaseSeconds: Int) async throws -> [AttachmentJob] {
        fatalError("not built yet")
    }

    /// Extends the lease, and stores the digest of the uploaded bytes if it is known.
    package func extendClaim(_ job: AttachmentJob, leaseSeconds: Int, uploadedDigest: [UInt8]?) async throws {
        fatalError("not built yet")
    }

    /// Writes chunk `number` of a variant; all but the last have `AttachmentSizes.chunkByteCount` bytes. Chunk 0
    /// deletes what an earlier claim left of that variant.
    package func putChunk(_ bytes: [UInt8], number: Int, of variant: AttachmentVariant, _ job: AttachmentJob)
        async throws
    {
        fatalError("not built yet")
    }

    /// State `ready`. In one transaction: the cleaned chunks replace the original's, and the thumbnail counts.
    package func finishAttachment(_ job: AttachmentJob, _ result: CheckedAttachment) async throws {
        fatalError("not built yet")
    }

    /// State `refused`: the bytes are deleted, and the audit log gets a row.
    package func refuseAttachment(_ job: AttachmentJob, reason: String) async throws { fatalError("not built yet") }

    /// Ends the claim; the attachment can be claimed again after `seconds`.
    package func postponeAttachment(_ job: AttachmentJob, seconds: Int) async throws { fatalError("not built yet") }
}
