// What events carry that is no resource of its own.
import Foundation

/// The user deleted this message for the own devices only. The counts are those afterwards.
public struct HiddenMessage: Sendable, Hashable, Codable {
    /// The message.
    public var id: MessageID
    /// The thread of the message.
    public var threadID: ThreadID
    /// The seq of the message.
    public var seq: Seq
    /// The thread's unread messages.
    public var unreadCount: Int
    /// The unread messages that mention the user.
    public var mentionCount: Int
    /// `me`.
    private var `for`: String

    /// Makes a value, for example for a test.
    public init(id: MessageID, threadID: ThreadID, seq: Seq, unreadCount: Int, mentionCount: Int) {
        self.id = id
        self.threadID = threadID
        self.seq = seq
        self.unreadCount = unreadCount
        self.mentionCount = mentionCount
        self.for = "me"
    }

    enum CodingKeys: String, CodingKey {
        case id, seq, `for`
        case threadID = "thread_id"
        case unreadCount = "unread_count"
        case mentionCount = "mention_count"
    }
}

/// Somebody added or removed a reaction.
public struct ReactionChange: Sendable, Hashable, Codable {
    /// The message.
    public var messageID: MessageID
    /// The seq of the message.
    public var seq: Seq
    /// The person who reacted.
    public var userID: UserID
    /// The emoji.
    public var emoji: String
    /// Whether the reaction was added, not removed.
    public var isAdded: Bool
    /// How many people have this reaction now.
    public var count: Int

    /// Makes a value, for example for a test.
    public init(messageID: MessageID, seq: Seq, userID: UserID, emoji: String, isAdded: Bool, count: Int) {
        self.messageID = messageID
        self.seq = seq
        self.userID = userID
        self.emoji = emoji
        self.isAdded = isAdded
        self.count = count
    }

    enum CodingKeys: String, CodingKey {
        case seq, emoji, count
        case isAdded = "put"
        case messageID = "message_id"
        case userID = "user_id"
    }
}

/// Somebody's marks in a thread.
public struct ReceiptChange: Sendable, Hashable, Codable {
    /// The person whose marks these are.
    public var userID: UserID
    /// The person has read everything up to this seq.
    public var readSeq: Seq
    /// One of the devices of the person has everything up to this seq.
    public var deliveredSeq: Seq
    /// It is nil if the person has read nothing.
    public var readAt: Date?
    /// It is nil if the person has received nothing.
    public var deliveredAt: Date?
    /// The person's unread messages. Absent if several people moved together.
    public var unreadCount: Int?
    /// The unread messages that mention the person. Absent as `unreadCount`.
    public var mentionCount: Int?

    /// Makes a value, for example for a test.
    public init(
        userID: UserID, readSeq: Seq, deliveredSeq: Seq, readAt: Date? = nil, deliveredAt: Date? = nil,
        unreadCount: Int? = nil, mentionCount: Int? = nil
    ) {
        self.userID = userID
        self.readSeq = readSeq
        self.deliveredSeq = deliveredSeq
        self.readAt = readAt
        self.deliveredAt = deliveredAt
        self.unreadCount = unreadCount
        self.mentionCount = mentionCount
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case readSeq = "read_seq"
        case deliveredSeq = "delivered_seq"
        case readAt = "read_at"
        case deliveredAt = "delivered_at"
        case unreadCount = "unread_count"
        case mentionCount = "mention_count"
    }
}

/// The user blocked or unblocked somebody.
public struct BlockChange: Sendable, Hashable, Codable {
    /// The person.
    public var userID: UserID
    /// Whether the person is blocked now.
    public var isBlocked: Bool

    /// Makes a value, for example for a test.
    public init(userID: UserID, isBlocked: Bool) {
        self.userID = userID
        self.isBlocked = isBlocked
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case isBlocked = "blocked"
    }
}

/// Somebody came online or went offline.
public struct PresenceChange: Sendable, Hashable, Codable {
    /// The person.
    public var userID: UserID
    /// Whether the person is online now.
    public var presence: Presence
    /// With `offline`.
    public var lastSeenAt: Date?

    /// Makes a value, for example for a test.
    public init(userID: UserID, presence: Presence, lastSeenAt: Date? = nil) {
        self.userID = userID
        self.presence = presence
        self.lastSeenAt = lastSeenAt
    }

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case presence
        case lastSeenAt = "last_seen_at"
    }
}

/// A thread that the user has from now on.
public struct CreatedThread: Sendable, Hashable, Codable {
    /// How a thread that existed before stands for the user.
    public struct Standing: Sendable, Hashable, Codable {
        /// The other person of a direct thread.
        public var peer: User?
        /// The messages of others after the own read mark.
        public var unreadCount: Int
        /// Unread messages that mention the user.
        public var mentionCount: Int
        /// The seq of the newest message; 0 if there is none.
        public var head: Seq
        /// The time of the newest message, or when the thread was made.
        public var lastActivityAt: Date
        /// The user's own membership.
        public var me: OwnMembership

        enum CodingKeys: String, CodingKey {
            case peer, head, me
            case unreadCount = "unread_count"
            case mentionCount = "mention_count"
            case lastActivityAt = "last_activity_at"
        }
    }

    /// The thread as everybody sees it.
    public var thread: PublicThread
    /// It is empty in threads of more than 100 members, and for invited people.
    public var members: [Member]
    /// It is nil for a new thread, which has no messages yet.
    public var standing: Standing?

    private enum CodingKeys: String, CodingKey { case members, me }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        thread = try PublicThread(from: decoder)
        members = try fields.decode([Member].self, forKey: .members)
        standing = fields.contains(.me) ? try Standing(from: decoder) : nil
    }

    public func encode(to encoder: any Encoder) throws {
        try thread.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(members, forKey: .members)
        try standing?.encode(to: encoder)
    }
}
