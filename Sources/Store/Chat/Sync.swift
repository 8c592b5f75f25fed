// Sync: the events after a client's cursor.
import Domain
import Postgres

/// The events after a position that a user may see.
package enum CatchUp: Sendable {
    /// The cursor is from a lost tail of the log, or from before what the log keeps.
    case expired
    /// The first of the events. Read again from `last` for the others.
    case part([(position: Position, body: JSONText)], last: Cursor)
    /// All events up to `head`, and the threads of which the user is a member there.
    case whole([(position: Position, body: JSONText)], head: Cursor, threads: [ThreadID])
}

extension Store {
    /// Returns the log's present point.
    package func now() async throws -> Cursor {
        try await reads.row("sync_start", []) { Cursor(epoch: try $0.int4(1), position: Position(try $0.int8(0))) }
    }

    /// Returns what `user` may see after a cursor, at most `limit` events and about `byteCountMax` bytes.
    package func catchUp(
        _ user: UserID, from cursor: Cursor, limit: Int, byteCountMax: Int
    ) async throws -> CatchUp {
        let rows = try await reads.rows(
            "sync_read",
            [
                .id(user), .int4(cursor.epoch), .int8(cursor.position.value), .int(limit),
                .int(byteCountMax),
            ])
        return try await decoded { try CatchUp(rows, from: cursor) }
    }

    /// Returns, for a client whose cursor has expired, a new cursor and the threads that the client must load again,
    /// with their heads (a JSON array).
    package func restart(_ user: UserID, from cursor: Cursor) async throws -> (cursor: Cursor, threads: JSONText) {
        try await reads.row("sync_restart", [.id(user), .int4(cursor.epoch), .int8(cursor.position.value)]) {
            (Cursor(epoch: try $0.int4(1), position: Position(try $0.int8(0))), try $0.json(2))
        }
    }
}

extension CatchUp {
    /// Decodes the rows of sync_read.
    fileprivate init(_ rows: Rows, from cursor: Cursor) throws {
        var events: [(position: Position, body: JSONText)] = []
        for row in rows {
            guard row.isNull(14) else {
                guard try row.text(14) == "ok" else {
                    self = .expired
                    return
                }
                var head = Cursor(epoch: try row.int4(16), position: Position(try row.int8(15)))
                if try row.bool(17) {
                    head.position = events.last?.position ?? cursor.position
                    self = .part(events, last: head)
                } else {
                    self = .whole(events, head: head, threads: try row.uuids(18).map(ThreadID.init))
                }
                return
            }
            let body = try row.event(EventColumns(thread: 2, at: 3, body: 4, message: 5))
            events.append((Position(try row.int8(0)), body))
        }
        throw PostgresError.decoding("sync_read's last row")
    }
}
