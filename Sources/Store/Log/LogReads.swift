// Reading the log, for a node's tail.
import Domain
import Postgres

/// An event as the log holds it.
package struct StoredEvent: Sendable {
    /// The type of the event, for nodes alone, by which an admin key ends.
    static let keyRevoked = "key.revoked"

    package var position: Position
    package var type: String
    package var thread: ThreadID?
    /// Nil: for every member of the thread at `position`.
    package var user: UserID?
    /// The users whose membership of `thread` begins or ends here.
    package var begins: [UserID]
    package var ends: [UserID]
    /// The session that a `session.revoked` is about.
    package var session: SessionID?
    /// The admin key that a `key.revoked` is about.
    package var adminKey: AdminKeyID?
    /// An earlier position whose content this event withdraws.
    package var withdraws: Position?
    /// Whether its content is withdrawn once every device has it.
    package var untilDelivered: Bool
    /// When it was written, before the commit, by the database's clock.
    package var at: Timestamp
    /// The whole event as clients get it. Of a message it is made when the row is decoded, so once a node.
    package var body: JSONText

    package init(
        position: Position, type: String, thread: ThreadID? = nil, user: UserID? = nil, begins: [UserID] = [],
        ends: [UserID] = [], session: SessionID? = nil, adminKey: AdminKeyID? = nil, withdraws: Position? = nil,
        at: Timestamp = Timestamp(microsSince1970: 0), untilDelivered: Bool = false, body: JSONText
    ) {
        self.position = position
        self.type = type
        self.thread = thread
        self.user = user
        self.begins = begins
        self.ends = ends
        self.session = session
        self.adminKey = adminKey
        self.withdraws = withdraws
        self.at = at
        self.untilDelivered = untilDelivered
        self.body = body
    }
}

/// Part of the log, as a node's tail reads it.
package struct LogPart: Sendable {
    /// The events are in the order of the log.
    package var events: [StoredEvent]
    /// The newest epoch of their snapshot; nil without events.
    package var epoch: Int32?
}

extension Store {
    /// Returns the events after a position, at most `limit`.
    package func readLog(after position: Position, limit: Int) async throws -> LogPart {
        let rows = try await log.rows("log_read", [.int8(position.value), .int(limit)])
        return try await decoded { try Self.logPart(rows) }
    }

    /// As `readLog`, but waits for the present writers of the log first, including waiting ones.
    /// - Parameter done: called once, on the database's I/O thread: it must not block.
    package func readLogInTurn(
        after position: Position, limit: Int, _ done: @escaping @Sendable (Result<LogPart, any Error>) -> Void
    ) {
        log.client.begin(
            Statement("log_read_in_turn", "select * from log_read($1, $2, true)"),
            [.int8(position.value), .int(limit)]
        ) { result in
            done(result.flatMap { rows in Result { try Self.logPart(rows) } })
        }
    }

    private static func logPart(_ rows: Rows) throws -> LogPart {
        let events = try rows.map { row in
            let type = try row.text(1)
            // One column has both kinds of ids.
            let revoked = try row.uuidOrNull(6)
            return StoredEvent(
                position: Position(try row.int8(0)), type: type,
                thread: try row.uuidOrNull(2).map(ThreadID.init), user: try row.uuidOrNull(3).map(UserID.init),
                begins: row.isNull(4) ? [] : try row.uuids(4).map(UserID.init),
                ends: row.isNull(5) ? [] : try row.uuids(5).map(UserID.init),
                session: type == StoredEvent.keyRevoked ? nil : revoked.map(SessionID.init),
                adminKey: type == StoredEvent.keyRevoked ? revoked.map(AdminKeyID.init) : nil,
                withdraws: try row.int8OrNull(7).map { Position($0) },
                at: Timestamp(microsSince1970: try row.timestamp(9)), untilDelivered: try row.boolOrNull(11) ?? false,
                body: try row.event(EventColumns(thread: 2, at: 9, body: 8, message: 12)))
        }
        return LogPart(events: events, epoch: try rows.first?.int4(10))
    }
}

/// Where a row has what an event is made from.
struct EventColumns {
    let thread: Int
    let at: Int
    let body: Int
    /// The message's id. After it come seq, sender, name, image, type, reply_to, mentions and expires_at.
    let message: Int
}

extension Row {
    /// Returns the event as clients get it.
    func event(_ columns: EventColumns) throws -> JSONText {
        guard let message = try createdMessage(columns) else { return try json(columns.body) }
        return try withBytes(columns.body) { message.event(payload: $0) }
    }

    /// Returns the new message of an event; nil for another event, and once its content was withdrawn.
    func createdMessage(_ columns: EventColumns) throws -> CreatedMessage? {
        guard let id = try uuidOrNull(columns.message) else { return nil }
        let first = columns.message + 1
        let sender = try uuidOrNull(first + 1).map { id in
            CreatedMessage.Sender(id: UserID(id), name: try text(first + 2), image: try textOrNull(first + 3))
        }
        return CreatedMessage(
            id: MessageID(id), thread: ThreadID(try uuid(columns.thread)), seq: Seq(try int8(first)), sender: sender,
            type: try text(first + 4), replyTo: try uuidOrNull(first + 5).map(MessageID.init),
            mentions: isNull(first + 6) ? [] : try uuids(first + 6).map(UserID.init),
            at: Timestamp(microsSince1970: try timestamp(columns.at)),
            expiresAt: isNull(first + 7) ? nil : Timestamp(microsSince1970: try timestamp(first + 7)))
    }
}
