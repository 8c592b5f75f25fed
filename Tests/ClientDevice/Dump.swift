// What a device has in the end: its lists, and its database as another program reads it.

import Foundation
import GRDB
import Parley

extension Device {
    /// Returns once the client has all events, and everything is sent but for messages that failed.
    func waitUntilIdle(within limit: Duration) async throws -> [String: JSONValue] {
        do {
            try await parley.catchUp(within: limit)
            return [:]
        } catch {
            let unsent = try await parley.outbox().current.filter { if case .failed = $0.state { false } else { true } }
            let states = unsent.prefix(3).map(\.state)
            return ["error": .string("\(error): \(parley.currentStatus), \(unsent.count) unsent: \(states)")]
        }
    }

    /// Everything that the device shows and stores.
    func dump() async throws -> [String: JSONValue] {
        let fresh = try await parley.inbox().current
        // The list that followed all changes must be the one that a new reader sees.
        let followed = shown.inbox
        let stale = zip(fresh, followed).filter { $0 != $1 }.map { JSONValue.string("\($1), not \($0)") }
        return [
            "order": .array(fresh.map { .string($0.id.rawValue) }),
            "shown_order": .array(followed.map { .string($0.id.rawValue) }),
            "stale": .array(stale),
            "last": .object(
                Dictionary(fresh.map { ($0.id.rawValue, .string($0.thread.lastMessage?.id.rawValue ?? "")) }) { $1 }),
            "timelines": .object(
                Dictionary(
                    shown.openTimelines.map { thread, rows in
                        (thread.rawValue, .array(rows.compactMap(\.message).map { .string($0.id.rawValue) }))
                    }
                ) { $1 }),
            "outbox": .array(
                try await parley.outbox().current.map {
                    ["id": .string($0.id.rawValue), "state": .string("\($0.state)")]
                }),
            "stored": try stored(),
        ]
    }

    /// The database, by a connection of its own. Its JSON is as the server sent it.
    private func stored() throws -> JSONValue {
        var configuration = Configuration()
        configuration.readonly = true
        let path = store.appending(path: "parley.sqlite").path
        return try DatabaseQueue(path: path, configuration: configuration).read { database in
            func values(_ sql: String) throws -> JSONValue {
                .array(try String.fetchAll(database, sql: sql).map(JSONValue.init(parsing:)))
            }
            func lists(_ table: String, _ order: String) throws -> JSONValue {
                let sql = """
                    select thread_id, json_group_array(json(data)) from
                        (select thread_id, data from \(table) order by thread_id, \(order)) group by thread_id
                    """
                let rows = try Row.fetchAll(database, sql: sql)
                return .object(Dictionary(try rows.map { ($0[0], try JSONValue(parsing: $0[1])) }) { $1 })
            }
            return [
                "threads": try values("select data from thread"),
                "messages": try lists("message", "seq"),
                "members": try lists("member", "user_id"),
                "account": try values("select value from device where key = 'account'"),
                "blocked": try values("select value from device where key = 'blocked'"),
            ]
        }
    }
}

extension JSONValue {
    init(parsing text: String) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }
}
