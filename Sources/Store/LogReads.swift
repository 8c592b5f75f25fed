// Reading the log: a node's tail, and a client that catches up.
import Domain
import Postgres

/// An event as the log holds it.
package struct StoredEvent: Sendable {
    package var position: Position
    package var type: String
    package var thread: ThreadID?
    /// Nil: for every member of the thread at `position`.
    package var user: UserID?
    /// Whose membership of `thread` begins or ends here.
    package var begins: [UserID]
    package var ends: [UserID]
    /// The session that a `session.revoked` is about.
    package var session: SessionID?
    /// An earlier position whose content is withdrawn by this.
    package var withdraws: Position?
    /// Whether its content goes once every device has it.
    package var untilDelivered: Bool
    /// When it was written, before the commit, by the database's clock.
    package var at: Timestamp
    /// The whole event as clients get it.
    package var body: JSONText

    package init(
        position: Position, type: String, thread: ThreadID? = nil, user: UserID? = nil, begins: [UserID] = [],
        ends: [UserID] = [], session: SessionID? = nil, withdraws: Position? = nil,
        at: Timestamp = Timestamp(microsSince1970: 0), untilDelivered: Bool = false, body: JSONText
    ) {
        self.position = position
        self.type = type
        self.thread = thread
        self.user = user
        self.begins = begins
        self.ends = ends
        self.session = session
        self.withdraws = withdraws
        self.at = at
        self.untilDelivered = untilDelivered
        self.body = body
    }
}

/// What a user may see after a position.
package enum CatchUp: Sendable {
    /// The cursor is from a lost tail of the log, or older than the log keeps.
    case expired
    /// Not all: ask again from the last of these.
    case part([(position: Position, body: JSONText)], last: Cursor)
    /// All up to `head`, and the threads of which the user is a member there.
    case whole([(position: Position, body: JSONText)], head: Cursor, threads: [ThreadID])
}

/// Part of the log, as a node's tail reads it.
package struct LogPart: Sendable {
    /// In the order of the log.
    package var events: [StoredEvent]
    /// The newest epoch of the snapshot that they are from; nil without events.
    package var epoch: Int32?
}

extension Store {
    /// The events after a position, at most `limit`.
    package func readLog(after position: Position, limit: Int) async throws -> LogPart {
        let rows = try await log.rows(
            Statement("log_read", "select * from log_read($1, $2)"), [.int8(position.value), .int4(Int32(limit))])
        return try await decoded { try Self.logPart(rows) }
    }

    /// The same, once those who are writing to the log now, or wait to, are through.
    /// - Parameter done: hears of the end once, on the database's I/O thread: it must not block.
    package func readLogInTurn(
        after position: Position, limit: Int, _ done: @escaping @Sendable (Result<LogPart, any Error>) -> Void
    ) {
        log.client.begin(
            Statement("log_read_in_turn", "select * from log_read($1, $2, true)"),
            [.int8(position.value), .int4(Int32(limit))]
        ) { result in
            done(result.flatMap { rows in Result { try Self.logPart(rows) } })
        }
    }

    private static func logPart(_ rows: Rows) throws -> LogPart {
        let events = try rows.map { row in
            StoredEvent(
                position: Position(try row.int8(0)), type: try row.text(1),
                thread: try row.uuidOrNull(2).map(ThreadID.init), user: try row.uuidOrNull(3).map(UserID.init),
                begins: row.isNull(4) ? [] : try row.uuids(4).map(UserID.init),
                ends: row.isNull(5) ? [] : try row.uuids(5).map(UserID.init),
                session: try row.uuidOrNull(6).map(SessionID.init),
                withdraws: try row.int8OrNull(7).map { Position($0) },
                at: Timestamp(microsSince1970: try row.timestamp(9)), untilDelivered: try row.boolOrNull(11) ?? false,
                body: try row.json(8))
        }
        return LogPart(events: events, epoch: try rows.first?.int4(10))
    }

    /// The point of the log that is now.
    package func now() async throws -> Cursor {
        let row = try await reads.row(Statement("sync_start", "select * from sync_start()"), [])
        return try await decoded { Cursor(epoch: try row.int4(1), position: Position(try row.int8(0))) }
    }

    /// What `user` may see after a cursor, at most `limit` events and about `byteCountMax` bytes of them.
    package func catchUp(
        _ user: UserID, from cursor: Cursor, limit: Int, byteCountMax: Int
    ) async throws -> CatchUp {
        let row = try await reads.row(
            Statement("sync_read", "select * from sync_read($1, $2, $3, $4, $5)"),
            [
                .id(user), .int4(cursor.epoch), .int8(cursor.position.value), .int4(Int32(limit)),
                .int4(Int32(byteCountMax)),
            ])
        return try await decoded {
            guard try row.text(0) == "ok" else { return .expired }
            var events: [(position: Position, body: JSONText)] = []
            if !row.isNull(3) {
                events = zip(try row.int8s(3), try row.texts(4)).map { (Position($0), JSONText(utf8: Array($1.utf8))) }
            }
            var head = Cursor(epoch: try row.int4(2), position: Position(try row.int8(1)))
            if try row.bool(5) {
                head.position = events.last?.position ?? cursor.position
                return .part(events, last: head)
            }
            let threads = row.isNull(6) ? [] : try row.uuids(6).map(ThreadID.init)
            return .whole(events, head: head, threads: threads)
        }
    }

    /// For a client whose cursor is no good any more: a fresh one, and the threads that it has to load again, with their
    /// heads (a JSON array).
    package func restart(_ user: UserID, from cursor: Cursor) async throws -> (cursor: Cursor, threads: JSONText) {
        let row = try await reads.row(
            Statement("sync_restart", "select * from sync_restart($1, $2, $3)"),
            [.id(user), .int4(cursor.epoch), .int8(cursor.position.value)])
        return try await decoded {
            (Cursor(epoch: try row.int4(1), position: Position(try row.int8(0))), try row.json(2))
        }
    }
}
