// Events: what changed, the same for everyone who receives it. docs/events.md describes each type.
import Foundation

/// A change. Skip those whose content is `other`.
public struct Event: Sendable, Hashable, Codable {
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
    /// The host app deleted a thread for everyone.
    case threadDeleted(ThreadID)
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

extension Event: FieldCoded {
    static var blank: Self { Self(type: "", at: .distantPast, content: .other(.null)) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&type, "type")
        try fields.code(&threadID, "thread_id")
        try fields.code(&at, "at")
        let (type, threadID) = (type, threadID)
        try fields.code(&content, "data") { source, key in
            do {
                return try EventContent(type, threadID, source, key)
            } catch is DecodingError {
                return .other(try source.decode(JSONValue.self, forKey: key))
            }
        } write: {
            try $0.encode($1.data, forKey: $2)
        }
        try fields.code(unknown: &unknown)
    }
}

extension EventContent {
    /// Reads the data of an event of this type.
    fileprivate init(
        _ type: EventType, _ threadID: ThreadID?, _ source: FieldCoder.Source, _ key: AnyKey
    ) throws {
        func data<Value: Decodable>() throws -> Value { try source.decode(Value.self, forKey: key) }
        switch type {
        case .messageCreated: self = .messageCreated(try data())
        case .messageUpdated: self = .messageUpdated(try data())
        case .messageDeleted:
            let form: Marker = try data()
            self = form.for == nil ? .messageDeleted(try data()) : .messageHidden(try data())
        case .reactionUpdated: self = .reactionUpdated(try data())
        case .receiptUpdated:
            let several: ReceiptChanges = try data()
            self = try several.receipts.map { .receiptsUpdated($0) } ?? .receiptUpdated(data())
        case .threadCreated: self = .threadCreated(try data())
        case .threadUpdated: self = .threadUpdated(try data())
        case .threadDeleted: self = .threadDeleted((try data() as DeletedThread).id)
        case .memberUpdated:
            var member: Member = try data()
            let count = member.unknown.removeValue(forKey: "member_count")?.int
            self = try count.map { .memberUpdated(member, memberCount: $0) } ?? .other(data())
        case .settingsUpdated where threadID == nil: self = .blockUpdated((try data() as BlockSetting).block)
        case .settingsUpdated: self = .settingsUpdated(try data())
        case .userUpdated where threadID == nil: self = .accountUpdated(try data())
        case .userUpdated: self = .userUpdated(try data())
        case .sessionRevoked: self = .sessionRevoked((try data() as RevokedSession).sessionID)
        case .typing: self = .typing((try data() as Typist).userID)
        case .presenceUpdated: self = .presenceUpdated(try data())
        default: self = .other(try data())
        }
    }

    /// What the initializer reads.
    fileprivate var data: any Encodable {
        switch self {
        case .messageCreated(let message), .messageUpdated(let message), .messageDeleted(let message): return message
        case .messageHidden(let message): return message
        case .reactionUpdated(let change): return change
        case .receiptUpdated(let change): return change
        case .receiptsUpdated(let changes): return ReceiptChanges(receipts: changes)
        case .threadCreated(let thread): return thread
        case .threadUpdated(let thread): return thread
        case .threadDeleted(let id): return DeletedThread(id: id)
        case .memberUpdated(var member, let count):
            member.unknown["member_count"] = .integer(Int64(count))
            return member
        case .settingsUpdated(let settings): return settings
        case .blockUpdated(let change): return BlockSetting(block: change)
        case .userUpdated(let user): return user
        case .accountUpdated(let account): return account
        case .sessionRevoked(let id): return RevokedSession(sessionID: id)
        case .typing(let id): return Typist(userID: id)
        case .presenceUpdated(let change): return change
        case .other(let value): return value
        }
    }
}

private struct DeletedThread: Codable {
    var id: ThreadID
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
