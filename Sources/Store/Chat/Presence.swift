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
        try await rows(
            "presence_put",
            [
                .text(node), .ids(online), .ids(offline.map(\.user)), .int8s(offline.map { Int64?($0.agoMs) }),
                .bool(isWhole),
            ], Self.passing)
    }

    /// Records that a node is alive. Returns how many users the database knows to be online there.
    package func presenceHeartbeat(node: String) async throws -> Int64 {
        try await value("presence_heartbeat", [.text(node)]) { try $0.int8(0) }
    }

    /// Makes some users of dead nodes offline. Returns the events for others; none when all users are offline.
    package func sweepPresence(limit: Int) async throws -> [PassingEvent] {
        try await rows("presence_sweep", [.int(limit)], Self.passing)
    }

    /// Returns the events about a user's present state, also when the user has stopped sharing it.
    package func presence(of user: UserID) async throws -> [PassingEvent] {
        try await rows("presence_changes", [.ids([user])], Self.passing)
    }

    /// Notifies all nodes, once for each payload.
    package func announcePresence(_ payloads: [String]) async throws {
        try await call("presence_announce", [.texts(payloads)])
    }

    private static func passing(_ row: Row) throws -> PassingEvent {
        PassingEvent(user: UserID(try row.uuid(0)), threads: try row.uuids(1).map(ThreadID.init), body: try row.json(2))
    }
}
