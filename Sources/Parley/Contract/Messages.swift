// Messages, their senders and reactions.
import Foundation

/// A message.
public struct Message: Sendable, Hashable, Codable, Identifiable {
    /// The id, which its sender chose.
    public var id: MessageID
    /// The thread of the message.
    public var threadID: ThreadID
    /// The message's number in its thread.
    public var seq: Seq
    /// The time when the server stored it.
    public var timestamp: Date
    /// How to read the payload.
    public var type: MessageType
    /// It is nil for system messages.
    public var sender: Sender?
    /// Nil if the message is deleted or expired, or if the thread keeps messages until they are delivered and this one
    /// is.
    public var payload: Payload?
    /// The message that this one answers.
    public var replyTo: MessageID?
    /// The members whom the message mentions.
    public var mentions: [UserID]
    /// The reactions by emoji.
    public var reactions: [String: Reaction]
    /// When the message was last edited. Nil if it never was.
    public var editedAt: Date?
    /// When the message became a tombstone. Nil if it is none.
    public var deletedAt: Date?
    /// The time when the message becomes a tombstone.
    public var expiresAt: Date?
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    /// Creates a message, for example for a preview.
    public init(
        id: MessageID, threadID: ThreadID, seq: Seq, timestamp: Date, type: MessageType = .message, sender: Sender?,
        payload: Payload?, replyTo: MessageID? = nil, mentions: [UserID] = [], reactions: [String: Reaction] = [:],
        editedAt: Date? = nil, deletedAt: Date? = nil, expiresAt: Date? = nil
    ) {
        self.id = id
        self.threadID = threadID
        self.seq = seq
        self.timestamp = timestamp
        self.type = type
        self.sender = sender
        self.payload = payload
        self.replyTo = replyTo
        self.mentions = mentions
        self.reactions = reactions
        self.editedAt = editedAt
        self.deletedAt = deletedAt
        self.expiresAt = expiresAt
    }
}

extension Message {
    /// The text of the payload; nil if it has none.
    public var text: String? { payload?.text }

    /// The files of the payload.
    public var attachments: [Attachment] { payload?.attachments ?? [] }

    /// Whether the message is a tombstone.
    public var isDeleted: Bool { deletedAt != nil }
}

extension Message: FieldCoded {
    static var blank: Self { Self(id: "", threadID: "", seq: 0, timestamp: .distantPast, sender: nil, payload: nil) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&id, "id")
        try fields.code(&threadID, "thread_id")
        try fields.code(&seq, "seq")
        try fields.code(&timestamp, "timestamp")
        try fields.code(&type, "type")
        try fields.code(&sender, "sender")
        let type = type
        try fields.code(
            &payload, "payload", read: { try Payload(type, $0, $1) }, write: { try $0.encodeIfPresent($1, forKey: $2) })
        try fields.code(&replyTo, "reply_to")
        try fields.code(&mentions, "mentions")
        try fields.code(&reactions, "reactions")
        try fields.code(&editedAt, "edited_at")
        try fields.code(&deletedAt, "deleted_at")
        try fields.code(&expiresAt, "expires_at")
        try fields.code(unknown: &unknown)
    }
}

/// Who sent a message, or who invited somebody.
public struct Sender: Sendable, Hashable, Codable, Identifiable {
    /// The id of the account.
    public var id: UserID
    /// The name for people.
    public var name: String
    /// A URL, or `attachment:` and the id of an attachment.
    public var profileImage: String?

    /// Makes a sender, for example for a preview.
    public init(id: UserID, name: String, profileImage: String? = nil) {
        self.id = id
        self.name = name
        self.profileImage = profileImage
    }

    enum CodingKeys: String, CodingKey {
        case id, name
        case profileImage = "profile_image"
    }
}

/// One emoji at a message.
public struct Reaction: Sendable, Hashable, Codable {
    /// How many people have this reaction.
    public var count: Int
    /// Whether the user is one of them. Nil in events, and in the answers to sending and editing, which do not say it.
    public var me: Bool?

    /// Makes a reaction, for example for a preview.
    public init(count: Int, me: Bool? = nil) {
        self.count = count
        self.me = me
    }
}

/// A message that a search has found.
public struct SearchHit: Sendable, Hashable, Codable {
    /// The message.
    public var message: Message
    /// About 200 characters around the first match, as HTML: escaped text with `<mark>` around each matching word.
    public var snippet: String
}
