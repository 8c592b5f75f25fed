// Presence: which users are online at which node, and the events about it.
import Domain
import Postgres

extension Store {
    /// Records which users came online at a node, and which went offline how many milliseconds ago. Returns the events
    /// for others.
    /// - Parameter isWhole: whether the list has all users who are online at the node.
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

    /// Records that a node is alive. Returns how many users the database knows to be online there.
    package func presenceHeartbeat(node: String) async throws -> Int64 {
        let row = try await row(Statement("presence_heartbeat", "select presence_heartbeat($1)"), [.text(node)])
        return try await decoded { try row.int8(0) }
    }

    /// Makes some users of dead nodes offline. Returns the events for others; none when all users are offline.
    package func sweepPresence(limit: Int) async throws -> [PassingEvent] {
        let rows = try await rows(
            Statement("presence_sweep", "select * from presence_sweep($1)"), [.int4(Int32(limit))])
        return try await passing(rows)
    }

    /// Returns the events about a user's present state, also when the user has stopped sharing it.
    package func presence(of user: UserID) async throws -> [PassingEvent] {
        let rows = try await rows(
            Statement("presence_changes", "select user_id, threads, body from presence_changes($1)"), [.ids([user])])
        return try await passing(rows)
    }

    /// Notifies all nodes, once for each payload.
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
