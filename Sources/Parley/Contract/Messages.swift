// Messages, their senders and reactions.
import Foundation

/// A message.
public struct Message: Sendable, Hashable, Identifiable {
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

extension Message: Codable {
    enum CodingKeys: String, CodingKey {
        case id, seq, timestamp, type, sender, payload, mentions, reactions
        case threadID = "thread_id"
        case replyTo = "reply_to"
        case editedAt = "edited_at"
        case deletedAt = "deleted_at"
        case expiresAt = "expires_at"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try FieldReader(decoder, CodingKeys.self)
        id = try fields[.id]
        threadID = try fields[.threadID]
        seq = try fields[.seq]
        timestamp = try fields[.timestamp]
        type = try fields[.type]
        sender = try fields.optional(.sender)
        payload = try Payload(type, fields, .payload)
        replyTo = try fields.optional(.replyTo)
        mentions = try fields[.mentions]
        reactions = try fields[.reactions]
        editedAt = try fields.optional(.editedAt)
        deletedAt = try fields.optional(.deletedAt)
        expiresAt = try fields.optional(.expiresAt)
        unknown = try fields.unknown
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = FieldWriter(encoder, CodingKeys.self)
        try fields.write(.id, id)
        try fields.write(.threadID, threadID)
        try fields.write(.seq, seq)
        try fields.write(.timestamp, timestamp)
        try fields.write(.type, type)
        try fields.write(.sender, sender)
        try fields.write(.payload, payload)
        try fields.write(.replyTo, replyTo)
        try fields.write(.mentions, mentions)
        try fields.write(.reactions, reactions)
        try fields.write(.editedAt, editedAt)
        try fields.write(.deletedAt, deletedAt)
        try fields.write(.expiresAt, expiresAt)
        try fields.write(unknown)
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
