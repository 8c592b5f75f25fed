// The types of events. docs/events.md describes each.

/// What an event reports.
public struct EventType: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Somebody sent a message.
    public static let messageCreated: Self = "message.created"
    /// A message was edited, or changed in another way.
    public static let messageUpdated: Self = "message.updated"
    /// A message became a tombstone, or the user hid it.
    public static let messageDeleted: Self = "message.deleted"
    /// Somebody added or removed a reaction.
    public static let reactionUpdated: Self = "reaction.updated"
    /// One or several people moved their marks.
    public static let receiptUpdated: Self = "receipt.updated"
    /// The user has a thread from now on.
    public static let threadCreated: Self = "thread.created"
    /// The title, the picture or the retention of a thread has changed.
    public static let threadUpdated: Self = "thread.updated"
    /// The host app deleted a thread for everyone.
    public static let threadDeleted: Self = "thread.deleted"
    /// Somebody joined, left, or has another role.
    public static let memberUpdated: Self = "member.updated"
    /// The user's own settings of a thread, or a block, have changed.
    public static let settingsUpdated: Self = "settings.updated"
    /// The profile of a person, or the own account, has changed.
    public static let userUpdated: Self = "user.updated"
    /// A device of the user was signed out.
    public static let sessionRevoked: Self = "session.revoked"
    /// A person is typing.
    public static let typing: Self = "typing"
    /// A person came online or went offline.
    public static let presenceUpdated: Self = "presence.updated"
}
