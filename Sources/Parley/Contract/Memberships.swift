// Who is in a thread: the user's own membership and settings, the other members, and receipts.
import Foundation

/// The user's membership, marks and settings in a thread.
public struct OwnMembership: Sendable, Hashable, Codable {
    /// What the user may do in the thread.
    public var role: Role
    /// Whether the user is invited or has joined.
    public var status: MemberStatus
    /// The user has read everything up to this seq.
    public var readSeq: Seq
    /// One of the user's devices has everything up to this seq.
    public var deliveredSeq: Seq
    /// How long the thread is muted. Nil if it is not. A time may be in the past: ask `isMuted(at:)`.
    public var mute: Mute?
    /// Whether the user put the thread aside.
    public var isArchived: Bool
    /// Whether the user wants the thread on top.
    public var isPinned: Bool
    /// Which messages alert the user.
    public var notify: AlertLevel
    /// Messages below this seq are not shown to the user.
    public var hiddenBeforeSeq: Seq
    /// The host app's own data, which no other user sees, at most 4 KiB as JSON.
    public var custom: [String: JSONValue]?
    /// The user's own labels of the thread, which no other user sees.
    public var labels: [String]
    /// Who invited the user. Nil after joining.
    public var invitedBy: Sender?

    /// Makes a membership, for example for a preview.
    public init(
        role: Role = .member, status: MemberStatus = .joined, readSeq: Seq = 0, deliveredSeq: Seq = 0,
        mute: Mute? = nil, isArchived: Bool = false, isPinned: Bool = false, notify: AlertLevel = .all,
        hiddenBeforeSeq: Seq = 0, custom: [String: JSONValue]? = nil, labels: [String] = [], invitedBy: Sender? = nil
    ) {
        self.role = role
        self.status = status
        self.readSeq = readSeq
        self.deliveredSeq = deliveredSeq
        self.mute = mute
        self.isArchived = isArchived
        self.isPinned = isPinned
        self.notify = notify
        self.hiddenBeforeSeq = hiddenBeforeSeq
        self.custom = custom
        self.labels = labels
        self.invitedBy = invitedBy
    }

    enum CodingKeys: String, CodingKey {
        case role, status, notify, custom, labels
        case readSeq = "read_seq"
        case deliveredSeq = "delivered_seq"
        case mute = "muted_until"
        case isArchived = "archived"
        case isPinned = "pinned"
        case hiddenBeforeSeq = "hidden_before_seq"
        case invitedBy = "invited_by"
    }
}

extension OwnMembership {
    /// Whether the thread is muted at a time.
    public func isMuted(at time: Date = .now) -> Bool { mute.map { $0.end > time } ?? false }
}

/// How long a thread is muted: no alerts are sent for its messages.
@nonexhaustive
public enum Mute: Sendable, Hashable {
    /// The mute ends at this time.
    case until(Date)
    /// Until the user ends it.
    case forever
}

extension Mute: Codable {
    /// Midnight of the last day of the calendar: the contract writes "for ever" as a time that nobody will see.
    private static let lastDay = Date(timeIntervalSince1970: 253_402_214_400)

    /// The time in requests.
    var end: Date {
        switch self {
        case .until(let time): time
        case .forever: Self.lastDay
        }
    }

    /// Reads a time. One after the year 9998 is `forever`.
    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        let text = try single.decode(String.self)
        guard let time = Date(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(in: single, debugDescription: "not a time: \(text)")
        }
        let isForever = time >= Self.lastDay - 364 * 86_400
        self = isForever ? .forever : .until(time)
    }

    /// Writes the time.
    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(end.rfc3339)
    }
}

/// The user's settings of a thread, and the counts under these settings.
public struct ThreadSettings: Sendable, Hashable, Codable {
    /// How long the thread is muted. Nil if it is not.
    public var mute: Mute?
    /// Whether the user put the thread aside.
    public var isArchived: Bool
    /// Whether the user wants the thread on top.
    public var isPinned: Bool
    /// Which messages alert the user.
    public var notify: AlertLevel
    /// Messages below this seq are not shown to the user.
    public var hiddenBeforeSeq: Seq
    /// The host app's own data, which no other user sees.
    public var custom: [String: JSONValue]?
    /// The user's own labels of the thread.
    public var labels: [String]
    /// The thread's unread messages.
    public var unreadCount: Int
    /// The unread messages that mention the user.
    public var mentionCount: Int

    enum CodingKeys: String, CodingKey {
        case notify, custom, labels
        case mute = "muted_until"
        case isArchived = "archived"
        case isPinned = "pinned"
        case hiddenBeforeSeq = "hidden_before_seq"
        case unreadCount = "unread_count"
        case mentionCount = "mention_count"
    }
}

/// A person in a thread.
public struct Member: Sendable, Hashable, Codable, Identifiable {
    /// The person.
    public var user: User
    /// What the person may do in the thread.
    public var role: Role
    /// Whether the person is invited, has joined, or is gone.
    public var status: MemberStatus
    /// The person has read everything up to this seq.
    public var readSeq: Seq
    /// One of the devices of the person has everything up to this seq.
    public var deliveredSeq: Seq
    /// When the read mark moved last. Nil if the person has read nothing.
    public var readAt: Date?
    /// When the delivered mark moved last. Nil if the person has received nothing.
    public var deliveredAt: Date?
    /// It is nil for a person who has not joined.
    public var joinedAt: Date?
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    public var id: UserID { user.id }

    /// Makes a member, for example for a preview.
    public init(
        user: User, role: Role = .member, status: MemberStatus = .joined, readSeq: Seq = 0, deliveredSeq: Seq = 0,
        readAt: Date? = nil, deliveredAt: Date? = nil, joinedAt: Date? = nil
    ) {
        self.user = user
        self.role = role
        self.status = status
        self.readSeq = readSeq
        self.deliveredSeq = deliveredSeq
        self.readAt = readAt
        self.deliveredAt = deliveredAt
        self.joinedAt = joinedAt
    }
}

extension Member: FieldCoded {
    static var blank: Self { Self(user: .blank) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&user, "user")
        try fields.code(&role, "role")
        try fields.code(&status, "status")
        try fields.code(&readSeq, "read_seq")
        try fields.code(&deliveredSeq, "delivered_seq")
        try fields.code(&readAt, "read_at")
        try fields.code(&deliveredAt, "delivered_at")
        try fields.code(&joinedAt, "joined_at")
        try fields.code(unknown: &unknown)
    }
}

/// A person who has a message, and since when.
public struct Receipt: Sendable, Hashable, Codable {
    /// The person.
    public var user: User
    /// When a device of the person received the message.
    public var deliveredAt: Date
    /// When the person read the message. Nil if that has not happened.
    public var readAt: Date?

    enum CodingKeys: String, CodingKey {
        case user
        case deliveredAt = "delivered_at"
        case readAt = "read_at"
    }
}
