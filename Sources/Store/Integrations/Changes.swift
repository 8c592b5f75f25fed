// The log as integrations see it.
import Domain
import Postgres

/// An event of the log as integrations see it. Nothing in it depends on who reads.
package struct Change: Sendable {
    package var id: EventID
    /// The `rawValue` of an `EventType`, or a type that a newer node has written.
    package var type: String
    package var thread: ThreadID?
    package var at: Timestamp
    /// The acting user. Nil for the server and for several users.
    package var actor: UserID?
    /// The event's `data` as clients get it.
    package var data: JSONText

    package init(id: EventID, type: String, thread: ThreadID?, at: Timestamp, actor: UserID?, data: JSONText) {
        self.id = id
        self.type = type
        self.thread = thread
        self.at = at
        self.actor = actor
        self.data = data
    }

    /// Returns the `data` of an event as the log holds it, which event_json has made: `data` is its last member, and
    /// the members before it hold no quotes.
    static func data(of body: UnsafeRawBufferPointer) -> JSONText? {
        let mark = Array(#","data":"#.utf8)
        guard body.last == UInt8(ascii: "}") else { return nil }
        var start = 0
        while start + mark.count < body.count {
            if body[start] == mark[0], body[start..<(start + mark.count)].elementsEqual(mark) {
                return JSONText(utf8: Array(body[(start + mark.count)..<(body.count - 1)]))
            }
            start += 1
        }
        return nil
    }
}

/// The events after a cursor.
package enum Changes: Sendable {
    /// The cursor is from a lost tail of the log, or from before what the log keeps. Continuing from `next` misses
    /// nothing that the log still has.
    case expired(next: Cursor)
    /// Events in order, perhaps none, and where to continue. `head` is the log's end in the same snapshot: beyond
    /// `next` there is more to read, unless they are equal.
    case part([Change], next: Cursor, head: Cursor)
}

extension Store {
    /// Returns the events after a cursor, at most `limit` and about `byteCountMax` bytes. Reads a bounded part of the
    /// log, so with few events of these types it may return none although there are more.
    /// - Parameter types: nil for all.
    package func changes(
        after cursor: Cursor, types: Set<EventType>? = nil, limit: Int, byteCountMax: Int = Page.byteCountMax
    ) async throws -> Changes {
        let rows = try await reads.rows(
            "changes_read",
            [
                .int4(cursor.epoch), .int8(cursor.position.value),
                types.map { .texts($0.map(\.rawValue).sorted()) } ?? .null, .int(limit),
                .int(byteCountMax),
            ])
        return try await decoded { try Changes(rows) }
    }

    /// Returns from where a reader gets all kept events of an instant or later.
    package func changes(since time: Timestamp) async throws -> Cursor {
        try await reads.row("change_since", [.timestamp(microsSince1970: time.microsSince1970)]) {
            Cursor(epoch: try $0.int4(0), position: Position(try $0.int8(1)))
        }
    }
}

extension Changes {
    /// Decodes the rows of changes_read.
    init(_ rows: Rows) throws {
        var changes: [Change] = []
        for row in rows {
            guard row.isNull(7) else {
                let epoch = try row.int4(9)
                let next = Cursor(epoch: epoch, position: Position(try row.int8(8)))
                guard try row.text(7) == "ok" else {
                    self = .expired(next: next)
                    return
                }
                let head = Cursor(epoch: epoch, position: Position(try row.int8(10)))
                self = .part(changes, next: next, head: head)
                return
            }
            changes.append(try row.change())
        }
        throw PostgresError.decoding("changes_read's last row")
    }
}

extension Row {
    fileprivate func change() throws -> Change {
        let columns = EventColumns(thread: 3, at: 4, body: 6, message: 11)
        let data =
            if let message = try createdMessage(columns) {
                try withBytes(columns.body) { message.message(payload: $0) }
            } else {
                try withBytes(columns.body, Change.data)
            }
        guard let data else { throw PostgresError.decoding("an event's data") }
        return Change(
            id: EventID(epoch: try int4(1), position: Position(try int8(0))), type: try text(2),
            thread: try uuidOrNull(3).map(ThreadID.init), at: Timestamp(microsSince1970: try timestamp(4)),
            actor: try uuidOrNull(5).map(UserID.init), data: data)
    }
}
