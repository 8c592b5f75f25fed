// Threads as the user sees them.
import Foundation

/// A thread as the user sees it: an entry of the inbox.
public struct ThreadSummary: Sendable, Hashable, Codable, Identifiable {
    /// The id of the thread.
    public var id: ThreadID
    /// What the thread is.
    public var kind: ThreadKind
    /// The id that the host app gave the thread. Nil without one.
    public var externalID: String?
    /// In a direct thread the other person's name. Nil for a group without a title.
    public var title: String?
    /// What a group or room is about.
    public var topic: String?
    /// A URL, or `attachment:` and the id of an attachment.
    public var image: String?
    /// The host app's own data about the thread, at most 4 KiB as JSON.
    public var custom: [String: JSONValue]?
    /// The host app's labels of the thread. `OwnMembership/labels` are the user's own.
    public var labels: [String]
    /// How long the server keeps what is sent from now on.
    public var retention: Retention
    /// How many people have joined.
    public var memberCount: Int
    /// When the thread was made.
    public var createdAt: Date
    /// The other person of a direct thread.
    public var peer: User?
    /// The newest message that the user sees. Nil if there is none.
    public var lastMessage: Message?
    /// The messages of others, not deleted, after the own read mark.
    public var unreadCount: Int
    /// Unread messages that mention the user.
    public var mentionCount: Int
    /// The time of the newest message, or when the thread was made.
    public var lastActivityAt: Date
    /// The seq of the newest message; 0 if there is none.
    public var head: Seq
    /// The user's own membership, marks and settings.
    public var me: OwnMembership
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    /// Creates a thread, for example for a preview.
    public init(
        id: ThreadID, kind: ThreadKind, externalID: String? = nil, title: String? = nil, topic: String? = nil,
        image: String? = nil, custom: [String: JSONValue]? = nil, labels: [String] = [],
        retention: Retention = .forever, memberCount: Int = 0, createdAt: Date, peer: User? = nil,
        lastMessage: Message? = nil, unreadCount: Int = 0, mentionCount: Int = 0, lastActivityAt: Date, head: Seq = 0,
        me: OwnMembership = .init()
    ) {
        self.id = id
        self.kind = kind
        self.externalID = externalID
        self.title = title
        self.topic = topic
        self.image = image
        self.custom = custom
        self.labels = labels
        self.retention = retention
        self.memberCount = memberCount
        self.createdAt = createdAt
        self.peer = peer
        self.lastMessage = lastMessage
        self.unreadCount = unreadCount
        self.mentionCount = mentionCount
        self.lastActivityAt = lastActivityAt
        self.head = head
        self.me = me
    }
}

extension ThreadSummary: FieldCoded {
    static var blank: Self { Self(id: "", kind: "", createdAt: .distantPast, lastActivityAt: .distantPast) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&id, "id")
        try fields.code(&kind, "kind")
        try fields.code(&externalID, "external_id")
        try fields.code(&title, "title")
        try fields.code(&topic, "topic")
        try fields.code(&image, "image")
        try fields.code(&custom, "custom")
        try fields.code(&labels, "labels")
        try fields.code(&retention, "retention")
        try fields.code(&memberCount, "member_count")
        try fields.code(&createdAt, "created_at")
        try fields.code(&peer, "peer")
        try fields.code(&lastMessage, "last_message")
        try fields.code(&unreadCount, "unread_count")
        try fields.code(&mentionCount, "mention_count")
        try fields.code(&lastActivityAt, "last_activity_at")
        try fields.code(&head, "head")
        try fields.code(&me, "me")
        try fields.code(unknown: &unknown)
    }
}

/// What everybody who may see a thread sees of it: a room in the list of rooms, a thread in `thread.updated`.
public struct PublicThread: Sendable, Hashable, Codable, Identifiable {
    /// The id of the thread.
    public var id: ThreadID
    /// What the thread is.
    public var kind: ThreadKind
    /// The id that the host app gave the thread. Nil without one.
    public var externalID: String?
    /// In `thread.updated` nil for a direct thread, which has none of its own.
    public var title: String?
    /// What a group or room is about.
    public var topic: String?
    /// A URL, or `attachment:` and the id of an attachment.
    public var image: String?
    /// The host app's own data about the thread, at most 4 KiB as JSON.
    public var custom: [String: JSONValue]?
    /// The host app's labels of the thread. `OwnMembership/labels` are the user's own.
    public var labels: [String]
    /// How long the server keeps what is sent from now on.
    public var retention: Retention
    /// How many people have joined.
    public var memberCount: Int
    /// When the thread was made.
    public var createdAt: Date

    enum CodingKeys: String, CodingKey {
        case id, kind, title, topic, image, custom, labels, retention
        case externalID = "external_id"
        case memberCount = "member_count"
        case createdAt = "created_at"
    }
}

/// How long the server keeps the content of messages that are sent while it is set.
@nonexhaustive
public enum Retention: Sendable, Hashable {
    /// Without an end.
    case forever
    /// Until every device of every member has the message.
    case untilDelivered
    /// Messages become tombstones after this time.
    case seconds(Int)
    /// A form that this version of the client does not know.
    case other([String: JSONValue])
}

extension Retention: Codable {
    private enum CodingKeys: String, CodingKey { case keep, seconds }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(String.self, forKey: .keep) {
        case "forever": self = .forever
        case "until_delivered": self = .untilDelivered
        case "seconds": self = .seconds(try fields.decode(Int.self, forKey: .seconds))
        default: self = .other(try [String: JSONValue](from: decoder))
        }
    }

    /// As the contract writes it.
    var json: [String: JSONValue] {
        switch self {
        case .forever: ["keep": "forever"]
        case .untilDelivered: ["keep": "until_delivered"]
        case .seconds(let count): ["keep": "seconds", "seconds": .integer(Int64(count))]
        case .other(let fields): fields
        }
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
