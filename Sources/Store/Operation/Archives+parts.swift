// A part of an archive as it is staged. `Archives` reads archives and makes parts.
import Domain

/// Some lines of an archive. What each line says by itself has been checked.
package struct ImportPart: Sendable {
    /// Where in the archive it begins, in bytes.
    package var start: Int
    package var byteCount = 0
    /// Empty lines count, too.
    package var lineCount = 0
    /// Whether the line `end` is in it.
    package var isComplete = false
    package var messages: [ImportedMessage] = []
    package var chunks: [ImportedChunk] = []
    /// The other lines, as objects with the names of the columns.
    package var rows: [ImportTable: [JSONValue]] = [:]

    package init(start: Int) { self.start = start }

    package var isEmpty: Bool { lineCount == 0 }
}

/// The staging tables of lines that come as JSON. The raw values are the keys of `import_stage_rest`.
package enum ImportTable: String, CaseIterable, Sendable {
    case users, blocks, threads, members, versions, reactions, receipts, hides, attachments
}

/// A message of an archive.
package struct ImportedMessage: Sendable {
    package var line: Int
    package var thread: ThreadID
    package var seq: Int64?
    package var id: MessageID
    /// It is nil for a system message.
    package var sender: UserID?
    package var type: String
    /// It is nil for a message without content.
    package var payload: MessagePayload?
    package var replyTo: MessageID?
    package var mentions: [UserID] = []
    package var createdAt: Timestamp
    package var editedAt: Timestamp?
    package var deletedAt: Timestamp?
    package var expiresAt: Timestamp?

    package init(line: Int, thread: ThreadID, id: MessageID, type: String, createdAt: Timestamp) {
        self.line = line
        self.thread = thread
        self.id = id
        self.type = type
        self.createdAt = createdAt
    }
}

/// Bytes of an attachment of an archive.
package struct ImportedChunk: Sendable {
    package var line: Int
    package var attachment: AttachmentID
    package var variant: AttachmentVariant
    package var number: Int32
    package var bytes: [UInt8]

    package init(
        line: Int, attachment: AttachmentID, variant: AttachmentVariant, number: Int32, bytes: [UInt8]
    ) {
        self.line = line
        self.attachment = attachment
        self.variant = variant
        self.number = number
        self.bytes = bytes
    }
}
