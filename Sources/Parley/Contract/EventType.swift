// The types of events. docs/events.md describes each.

/// What an event reports.
public struct EventType: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    public static let messageCreated: Self = "message.created"
    public static let messageUpdated: Self = "message.updated"
    public static let messageDeleted: Self = "message.deleted"
    public static let reactionUpdated: Self = "reaction.updated"
    public static let receiptUpdated: Self = "receipt.updated"
    public static let threadCreated: Self = "thread.created"
    public static let threadUpdated: Self = "thread.updated"
    public static let memberUpdated: Self = "member.updated"
    public static let settingsUpdated: Self = "settings.updated"
    public static let userUpdated: Self = "user.updated"
    public static let sessionRevoked: Self = "session.revoked"
    public static let typing: Self = "typing"
    public static let presenceUpdated: Self = "presence.updated"
}
