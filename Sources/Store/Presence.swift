// Presence and typing: who is online where, and the events that tell of it.
import Domain
import Postgres

extension Store {
    /// Says who has come to a node, and who has gone from it how many milliseconds ago; gives what others are to be told.
    /// - Parameter isWhole: nobody else is online there.
    package func putPresence(
        node: String, online: [UserID], offline: [(user: UserID, agoMs: Int64)], isWhole: Bool = false
    ) async throws -> [PassingEvent] {
        let rows = try await rows(
            Statement("presence_put", "select * from presence_put($1, $2, $3, $4, $5)"),
            [
                .text(node), .ids(online), .ids(offline.map(\.user)), .int8s(offline.map { Int64?($0.agoMs) }),
                .bool(isWhole),
            ])
        return try await passing(rows)
    }

    /// Says that a node is there; gives how many are online there.
    package func beatPresence(node: String) async throws -> Int64 {
        let row = try await row(Statement("presence_beat", "select presence_beat($1)"), [.text(node)])
        return try await decoded { try row.int8(0) }
    }

    /// Takes some of those offline whose nodes have died; gives what others are to be told, nothing once all are.
    package func sweepPresence(limit: Int) async throws -> [PassingEvent] {
        let rows = try await rows(
            Statement("presence_sweep", "select * from presence_sweep($1)"), [.int4(Int32(limit))])
        return try await passing(rows)
    }

    /// What others are told of a user as they are now, also that they share nothing any more.
    package func presence(of user: UserID) async throws -> [PassingEvent] {
        let rows = try await rows(
            Statement("presence_changes", "select user_id, threads, body from presence_changes($1)"), [.ids([user])])
        return try await passing(rows)
    }

    /// That somebody types; nil where nobody is to hear of it.
    package func typing(_ user: UserID, in thread: ThreadID) async throws -> PassingEvent? {
        let row = try await row(Statement("typing_put", "select typing_put($1, $2)"), [.id(user), .id(thread)])
        return try await decoded {
            row.isNull(0) ? nil : PassingEvent(user: user, threads: [thread], body: try row.json(0))
        }
    }

    /// Notifies all nodes, once a payload.
    package func announcePresence(_ payloads: [String]) async throws {
        _ = try await rows(Statement("presence_announce", "select presence_announce($1)"), [.texts(payloads)])
    }

    private func passing(_ rows: Rows) async throws -> [PassingEvent] {
        try await decoded {
            try rows.map { row in
                PassingEvent(
                    user: UserID(try row.uuid(0)), threads: try row.uuids(1).map(ThreadID.init),
                    body: try row.json(2))
            }
        }
    }
}
