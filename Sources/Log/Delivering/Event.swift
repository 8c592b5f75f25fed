// An event in a node's memory: read once, and shared by all mailboxes that it concerns.
import Domain
import Store

/// One event of the log, immutable and shared. Its body is the bytes that every client gets.
package final class Event: Sendable {
    package let position: Position
    package let body: [UInt8]
    let thread: ThreadID?
    let user: UserID?
    let begins: [UserID]
    let ends: [UserID]
    let session: SessionID?
    let withdraws: Position?
    /// Whether it is a new message, for which devices get delivered marks.
    let isMessage: Bool
    /// Whether its content is withdrawn once every device has it.
    let untilDelivered: Bool

    package init(_ stored: StoredEvent) {
        position = stored.position
        body = stored.body.utf8
        thread = stored.thread
        user = stored.user
        begins = stored.begins
        ends = stored.ends
        session = stored.session
        withdraws = stored.withdraws
        isMessage = stored.type == "message.created"
        untilDelivered = stored.untilDelivered
    }
}

/// The answer to a poll.
package enum PollAnswer: Sendable {
    /// Events in the order of the log, perhaps none. `upTo` is the client's next cursor.
    case events([Event], upTo: Cursor, more: Bool)
    /// The session has ended.
    case revoked
    /// The node is stopping: no events; poll another node.
    case closing(upTo: Cursor)
    /// Too many polls of the session or the account waited, and this was the oldest: no events.
    case displaced(upTo: Cursor)
}
