// The contract's words. Each type knows today's words as constants, and keeps any other one.

/// What a thread is.
public struct ThreadKind: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Two people. There is one such thread for each pair.
    public static let direct: Self = "direct"
    /// People who were added or invited.
    public static let group: Self = "group"
    /// Everybody may find it by its title, and join.
    public static let room: Self = "room"
}

/// What a member may do in a thread.
public struct Role: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// May do everything, and make others owners.
    public static let owner: Self = "owner"
    /// May change the thread, remove members, and delete others' messages.
    public static let admin: Self = "admin"
    /// May read and write.
    public static let member: Self = "member"
}

/// Whether a person is in a thread.
public struct MemberStatus: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Has not accepted yet, and sees no messages.
    public static let invited: Self = "invited"
    /// Is in the thread.
    public static let joined: Self = "joined"
    /// Left, and can only be invited again.
    public static let left: Self = "left"
    /// Was removed by an owner or admin.
    public static let removed: Self = "removed"
}

/// Which messages of a thread alert the user, on all devices. A muted thread alerts of none.
public struct AlertLevel: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Every message of somebody else.
    public static let all: Self = "all"
    /// Only messages that mention the user.
    public static let mentions: Self = "mentions"
    /// No message.
    public static let none: Self = "none"
}

/// Whether a person is online: while a poll is open, and 60 s longer.
public struct Presence: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A poll is open, or was within the last 60 s.
    public static let online: Self = "online"
    /// No device polls.
    public static let offline: Self = "offline"
}

/// Whose an account is. Today the server names it for bots only.
public struct AccountKind: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A program: without presence, typing and receipts.
    public static let bot: Self = "bot"
}

/// How far the moderators are with a report.
public struct ReportState: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// No moderator has decided.
    public static let open: Self = "open"
    /// A moderator has acted.
    public static let resolved: Self = "resolved"
    /// A moderator saw no reason to act.
    public static let dismissed: Self = "dismissed"
}

/// How to read a message's payload. An app's own types begin with `x-`.
public struct MessageType: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A text, attachments, or both.
    public static let message: Self = "message"
    /// A place.
    public static let location: Self = "location"
    /// Bytes that only the apps can read.
    public static let encrypted: Self = "encrypted"
    /// Written by the server: somebody joined, left, …
    public static let system: Self = "system"
}

/// What a system message reports. Show nothing for an unknown action.
public struct SystemAction: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A person joined.
    public static let joined: Self = "joined"
    /// A person was added.
    public static let added: Self = "added"
    /// A person left.
    public static let left: Self = "left"
    /// A person was removed.
    public static let removed: Self = "removed"
    /// The thread has another title.
    public static let renamed: Self = "renamed"
}

/// How far an attachment is.
public struct AttachmentState: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Bytes are missing.
    public static let receiving: Self = "receiving"
    /// The server looks at the file.
    public static let checking: Self = "checking"
    /// Messages can have it, and nothing changes any more.
    public static let ready: Self = "ready"
    /// The virus scanner found something, and the bytes are deleted.
    public static let refused: Self = "refused"
}

/// How much an alert shows.
public struct AlertDetail: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The sender and the text.
    public static let full: Self = "full"
    /// Alerts show only the sender.
    public static let senderOnly: Self = "sender_only"
    /// No alerts.
    public static let none: Self = "none"
}
