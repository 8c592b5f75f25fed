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
        try await reads.row(
            "sync_read",
            [
                .id(user), .int4(cursor.epoch), .int8(cursor.position.value), .int(limit),
                .int(byteCountMax),
            ]
        ) { row in
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

    /// Returns, for a client whose cursor has expired, a new cursor and the threads that the client must load again,
    /// with their heads (a JSON array).
    package func restart(_ user: UserID, from cursor: Cursor) async throws -> (cursor: Cursor, threads: JSONText) {
        try await reads.row("sync_restart", [.id(user), .int4(cursor.epoch), .int8(cursor.position.value)]) {
            (Cursor(epoch: try $0.int4(1), position: Position(try $0.int8(0))), try $0.json(2))
        }
    }
}
