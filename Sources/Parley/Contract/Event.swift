// Events: what changed, the same for everyone who receives it. docs/events.md describes each type.
import Foundation

/// A change. Skip those whose content is `other`.
public struct Event: Sendable, Hashable {
    /// What happened.
    public var type: EventType
    /// It is nil for events of the account.
    public var threadID: ThreadID?
    /// The server's time of the change.
    public var at: Date
    /// The data of the event, by its type.
    public var content: EventContent
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    /// Creates an event, for example for a test.
    public init(type: EventType, threadID: ThreadID? = nil, at: Date, content: EventContent) {
        self.type = type
        self.threadID = threadID
        self.at = at
        self.content = content
    }
}

/// What an event says, by its type.
@nonexhaustive
public enum EventContent: Sendable, Hashable {
    /// Somebody sent a message.
    case messageCreated(Message)
    /// A message was edited, or changed in another way.
    case messageUpdated(Message)
    /// A tombstone.
    case messageDeleted(Message)
    /// The user deleted a message for the own devices only.
    case messageHidden(HiddenMessage)
    /// Somebody added or removed a reaction.
    case reactionUpdated(ReactionChange)
    /// A person moved a mark.
    case receiptUpdated(ReceiptChange)
    /// Several people moved their marks within a second.
    case receiptsUpdated([ReceiptChange])
    /// The user has a thread from now on.
    case threadCreated(CreatedThread)
    /// The title, the picture or the retention of a thread has changed.
    case threadUpdated(PublicThread)
    /// A membership, and the thread's number of members.
    case memberUpdated(Member, memberCount: Int)
    /// The user's own settings of a thread have changed.
    case settingsUpdated(ThreadSettings)
    /// The user blocked or unblocked a person.
    case blockUpdated(BlockChange)
    /// The profile of a person in a thread.
    case userUpdated(User)
    /// The own account.
    case accountUpdated(Account)
    /// A device of the user was signed out.
    case sessionRevoked(SessionID)
    /// A person is typing.
    case typing(UserID)
    /// A person came online or went offline.
    case presenceUpdated(PresenceChange)
    /// Of a type that this version of the client does not know, or not of the form that it knows.
    case other(JSONValue)
}

extension Event: Codable {
    enum CodingKeys: String, CodingKey {
        case type, at, data
        case threadID = "thread_id"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try FieldReader(decoder, CodingKeys.self)
        type = try fields[.type]
        threadID = try fields.optional(.threadID)
        at = try fields[.at]
        do {
            content = try Self.content(type, threadID, fields)
        } catch is DecodingError {
            content = .other(try fields[.data])
        }
        unknown = try fields.unknown
    }

    private static func content(
        _ type: EventType, _ threadID: ThreadID?, _ fields: FieldReader<CodingKeys>
    ) throws -> EventContent {
        switch type {
        case .messageCreated: return .messageCreated(try fields[.data])
        case .messageUpdated: return .messageUpdated(try fields[.data])
        case .messageDeleted:
            let form: Marker = try fields[.data]
            return form.for == nil ? .messageDeleted(try fields[.data]) : .messageHidden(try fields[.data])
        case .reactionUpdated: return .reactionUpdated(try fields[.data])
        case .receiptUpdated:
            let several: ReceiptChanges = try fields[.data]
            return try several.receipts.map { .receiptsUpdated($0) } ?? .receiptUpdated(fields[.data])
        case .threadCreated: return .threadCreated(try fields[.data])
        case .threadUpdated: return .threadUpdated(try fields[.data])
        case .memberUpdated:
            var member: Member = try fields[.data]
            guard let count = member.unknown.removeValue(forKey: "member_count")?.int else { break }
            return .memberUpdated(member, memberCount: count)
        case .settingsUpdated where threadID == nil:
            return .blockUpdated((try fields[.data] as BlockSetting).block)
        case .settingsUpdated: return .settingsUpdated(try fields[.data])
        case .userUpdated where threadID == nil: return .accountUpdated(try fields[.data])
        case .userUpdated: return .userUpdated(try fields[.data])
        case .sessionRevoked: return .sessionRevoked((try fields[.data] as RevokedSession).sessionID)
        case .typing: return .typing((try fields[.data] as Typist).userID)
        case .presenceUpdated: return .presenceUpdated(try fields[.data])
        default: break
        }
        return .other(try fields[.data])
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = FieldWriter(encoder, CodingKeys.self)
        try fields.write(.type, type)
        try fields.write(.threadID, threadID)
        try fields.write(.at, at)
        switch content {
        case .messageCreated(let message), .messageUpdated(let message), .messageDeleted(let message):
            try fields.write(.data, message)
        case .messageHidden(let message): try fields.write(.data, message)
        case .reactionUpdated(let change): try fields.write(.data, change)
        case .receiptUpdated(let change): try fields.write(.data, change)
        case .receiptsUpdated(let changes): try fields.write(.data, ReceiptChanges(receipts: changes))
        case .threadCreated(let thread): try fields.write(.data, thread)
        case .threadUpdated(let thread): try fields.write(.data, thread)
        case .memberUpdated(var member, let count):
            member.unknown["member_count"] = .integer(Int64(count))
            try fields.write(.data, member)
        case .settingsUpdated(let settings): try fields.write(.data, settings)
        case .blockUpdated(let change): try fields.write(.data, BlockSetting(block: change))
        case .userUpdated(let user): try fields.write(.data, user)
        case .accountUpdated(let account): try fields.write(.data, account)
        case .sessionRevoked(let id): try fields.write(.data, RevokedSession(sessionID: id))
        case .typing(let id): try fields.write(.data, Typist(userID: id))
        case .presenceUpdated(let change): try fields.write(.data, change)
        case .other(let value): try fields.write(.data, value)
        }
        try fields.write(unknown)
    }
}

/// Tells the two forms of `message.deleted` apart.
private struct Marker: Decodable {
    let `for`: String?
}

private struct ReceiptChanges: Codable {
    let receipts: [ReceiptChange]?
}

private struct BlockSetting: Codable {
    let block: BlockChange
}

private struct RevokedSession: Codable {
    let sessionID: SessionID
    enum CodingKeys: String, CodingKey { case sessionID = "session_id" }
}

private struct Typist: Codable {
    let userID: UserID
    enum CodingKeys: String, CodingKey { case userID = "user_id" }
}
