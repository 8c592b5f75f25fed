// Lists. Each page says where the next one begins; `next` is nil at the end.
import Foundation

/// A point in the log of events. Opaque: store it, and do not compare it. At most 2,048 characters.
public typealias Cursor = String

/// The user's devices, newest first.
public struct SessionPage: Sendable, Hashable, Codable {
    /// The sessions of this page.
    public var sessions: [Session]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// The people whom the user has blocked, latest first.
public struct BlockPage: Sendable, Hashable, Codable {
    /// The blocks of this page.
    public var blocks: [Block]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// People in the directory.
public struct UserPage: Sendable, Hashable, Codable {
    /// The people of this page.
    public var users: [User]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// Earlier versions of a message, the latest first.
public struct EditPage: Sendable, Hashable, Codable {
    /// The versions of this page.
    public var edits: [MessageVersion]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// An earlier version of a message.
public struct MessageVersion: Sendable, Hashable, Codable {
    /// What the message said. How to read it depends on the message's type.
    public var payload: JSONValue
    /// When the sender wrote it.
    public var writtenAt: Date

    enum CodingKeys: String, CodingKey {
        case payload
        case writtenAt = "written_at"
    }
}

/// Rooms, largest first.
public struct RoomPage: Sendable, Hashable, Codable {
    /// The rooms of this page.
    public var rooms: [PublicThread]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// Members of a thread: owners, then admins, then the others.
public struct MemberPage: Sendable, Hashable, Codable {
    /// The members of this page.
    public var members: [Member]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// The commands that work in a thread, in the order of their words.
public struct CommandList: Sendable, Hashable, Codable {
    /// The commands.
    public var commands: [Command]

    /// A word that a message may begin with.
    public struct Command: Sendable, Hashable, Codable {
        /// With its slash: `/deploy`.
        public var word: String
        /// What it does, in one line.
        public var description: String?
    }
}

/// The members who have a message. A page may be empty and still have `next`.
public struct ReceiptPage: Sendable, Hashable, Codable {
    /// The receipts of this page.
    public var receipts: [Receipt]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// Messages that a search has found, newest first. A page may be empty and still have `next`.
public struct SearchPage: Sendable, Hashable, Codable {
    /// The messages of this page.
    public var results: [SearchHit]
    /// How many entries the server puts on a page at most.
    public var limit: Int
    /// Where the next page begins. Nil at the end.
    public var next: String?
}

/// Messages of a thread in ascending order of seq.
public struct MessagePage: Sendable, Hashable, Codable {
    /// The messages of this page.
    public var messages: [Message]
    /// The thread's last seq; 0 if it has no messages.
    public var head: Seq
    /// There are no more messages in this direction.
    public var end: Bool
}

/// Threads, newest activity first.
public struct InboxPage: Sendable, Hashable, Codable {
    /// The threads of this page.
    public var threads: [ThreadSummary]
    /// Unread messages in all of the user's threads.
    public var unreadTotal: Int
    /// The point to sync from. With several pages, use the cursor of the first.
    public var cursor: Cursor
    /// Where the next page begins. Nil at the end.
    public var next: String?
    /// True: the server could not read some threads. Keep what is stored of them. Nil means false.
    public var partial: Bool?

    enum CodingKeys: String, CodingKey {
        case threads, cursor, next, partial
        case unreadTotal = "unread_total"
    }
}

/// The events after a cursor.
public struct SyncPage: Sendable, Hashable, Codable {
    /// The events, in the order of the log.
    public var events: [Event]
    /// The cursor of the next request.
    public var cursor: Cursor
    /// There are more events: ask again at once.
    public var more: Bool
    /// True: the server could not read some threads. Nil means false.
    public var partial: Bool?
}

/// What follows a cursor is no longer in the log (410 `cursor_expired`). Reload these threads, then continue from `cursor`.
public struct CursorExpired: Sendable, Hashable, Codable {
    /// A thread, and its newest seq.
    public struct ThreadHead: Sendable, Hashable, Codable {
        /// The thread.
        public var id: ThreadID
        /// 0 for a thread of which the user reads nothing: invited only, or no longer a member.
        public var head: Seq
    }

    /// The cursor to continue from.
    public var cursor: Cursor
    /// The threads that changed since.
    public var threads: [ThreadHead]
}
