// An event as a node holds it: read once, shared by every mailbox that it concerns.
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
    /// Whether devices that have it have got a message.
    let isMessage: Bool
    /// Whether its content goes once every device has it.
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

/// What a poll is answered with.
package enum PollAnswer: Sendable {
    /// Events in the order of the log, perhaps none; `upTo` is what the client has seen with them.
    case events([Event], upTo: Cursor, more: Bool)
    /// The session was signed out.
    case revoked
    /// The node is going away: no events, ask another.
    case closing(upTo: Cursor)
    /// One more poll of its session or account came than may wait, and this was the oldest: no events.
    case displaced(upTo: Cursor)
}
