// What an archive holds, and its parts.
import Domain
import Postgres

extension ArchiveScope {
    var parameters: [Parameter] {
        [
            .uuid(orNull: user?.uuid), .uuid(orNull: thread?.uuid),
            since.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null,
            until.map { .timestamp(microsSince1970: $0.microsSince1970) } ?? .null,
        ]
    }
}

/// A part of an archive, in the order of the file.
package enum ArchivePart: String, CaseIterable, Sendable {
    case users, blocks, attachments, threads, members, messages, versions, reactions, receipts, hidden

    /// The `type` of its lines.
    package var lineType: String {
        switch self {
        case .users: "user"
        case .blocks: "block"
        case .attachments: "attachment"
        case .threads: "thread"
        case .members: "member"
        case .messages: "message"
        case .versions: "message_version"
        case .reactions: "reaction"
        case .receipts: "receipt"
        case .hidden: "hidden_message"
        }
    }
}

/// A line of an archive about an attachment, and its variants, whose bytes follow the line.
package struct ArchivedAttachment: Sendable {
    package var line: JSONText
    package var files: [ArchiveFile]
}

/// The bytes of a variant of an attachment.
package struct ArchiveFile: Sendable {
    package var attachment: AttachmentID
    package var variant: AttachmentVariant
    package var byteCount: Int
    /// Whether the bytes are in the object store, under `objectKey`.
    package var isInObjectStore: Bool
    package var objectKey: String { variant.objectKey(of: attachment) }
}
