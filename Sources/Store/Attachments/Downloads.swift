// Reading attachments, for callers who may.
import Domain
import Postgres

/// The caller of a download.
package enum AttachmentReader: Sendable {
    case user(UserID)
    /// By media cookie or signed link: the user of this session, as long as it exists.
    case session(SessionID)
}

/// A variant of an attachment that its reader may have.
package struct StoredFile: Sendable {
    package var attachment: AttachmentID
    package var variant: AttachmentVariant
    package var mediaType: String
    package var byteCount: Int
    /// SHA-256 of the bytes.
    package var digest: [UInt8]
    package var name: String
    /// Whether a use expires or is kept until delivery only, so that clients must not store the bytes.
    package var isTransient: Bool
    /// Whether the bytes are in the object store, under `objectKey`.
    package var isInObjectStore: Bool
    package var objectKey: String { variant.objectKey(of: attachment) }
}

extension Store {
    /// Throws 404 `attachment_not_found` to everyone who may not see it (also for an ended session), 409
    /// `attachment_not_ready` or `attachment_refused` to its owner, 404 also without a thumbnail.
    package func openAttachment(
        _ id: AttachmentID, variant: AttachmentVariant, for reader: AttachmentReader
    ) async throws -> StoredFile {
        let (user, session): (Parameter, Parameter) =
            switch reader {
            case .user(let user): (.id(user), .null)
            case .session(let session): (.null, .id(session))
            }
        return try await reads.row("attachment_open", [.id(id), .int2(variant.rawValue), user, session]) { row in
            StoredFile(
                attachment: id, variant: variant, mediaType: try row.text(0), byteCount: Int(try row.int8(1)),
                digest: try row.bytes(2), name: try row.text(3), isTransient: try row.bool(4),
                isInObjectStore: try row.bool(5))
        }
    }

    /// Returns a chunk; nil if it was deleted or moved to the object store meanwhile.
    package func chunk(_ number: Int, of variant: AttachmentVariant, _ id: AttachmentID) async throws -> [UInt8]? {
        try await fileReads.value("attachment_chunk", [.id(id), .int2(variant.rawValue), .int(number)]) {
            try $0.bytesOrNull(0)
        }
    }

    /// Returns the `attachment` object of the contract.
    package func attachment(_ id: AttachmentID, for user: UserID) async throws -> JSONText {
        try await reads.json("attachment_get", [.id(id), .id(user)])
    }

    /// Records that a device has the whole file, if a message waits for that. Throws 404.
    package func receivedAttachment(_ id: AttachmentID, by identity: Identity) async throws {
        try await call("attachment_receive", [.id(id), .id(identity.user), .id(identity.session)])
    }

    /// The owner's own thumbnail, at most `AttachmentSizes.thumbnailByteCountMax` bytes, already checked and cleaned.
    /// Throws 403 `quota_exceeded`; 409 `attachment_not_ready` before the first byte of the file.
    package func putThumbnail(
        _ bytes: [UInt8], _ thumbnail: StoredVariant, of id: AttachmentID, owner: UserID, rules: UploadRules
    ) async throws -> JSONText {
        try await json(
            "attachment_put_thumbnail",
            [
                .id(id), .id(owner), .bytes(bytes), .text(thumbnail.mediaType), .bytes(thumbnail.digest),
                .int8(Int64(rules.quotaByteCount)),
            ])
    }

    /// Gives up an upload or an unused attachment. Throws 404; 409 `attachment_in_use`.
    package func deleteAttachment(_ id: AttachmentID, owner: UserID) async throws {
        try await call("attachment_delete", [.id(id), .id(owner)])
    }
}
