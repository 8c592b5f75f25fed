// An account that changes its thread as fast as it can, next to others.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Writing as fast as possible", .timeLimit(.minutes(2)))
    struct WriteLimits {
        @Test("an account that renames, edits and reacts as fast as possible does not delay others")
        func notice() async throws {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: ["PARLEY_RATE_LIMITS": "on"])
            let others = try await OtherUsers.join(node)
            let eve = try await node.client.register("Eve")
            let group = "/v1/threads/\(try await node.client.thread("group", by: eve, with: []))"
            let id = group.split(separator: "/")[2]
            let message = "\(group)/messages/\(try await node.client.sent("hello", in: String(id), as: eve))"
            let notice = try await others.notice(connectionCount: 6) { connection, lane in
                for number in 0..<10 {
                    switch lane % 3 {
                    case 0: _ = try await connection.call("PATCH", group, ["title": "T \(number)"], as: eve)
                    case 1:
                        let body: JSON = ["payload": ["text": "edit \(number)"]]
                        _ = try await connection.call("PATCH", message, body, as: eve)
                    default:
                        let path = "\(message)/reactions/%F0%9F%91%8D"
                        _ = try await connection.call(number % 2 == 0 ? "PUT" : "DELETE", path, as: eve)
                    }
                }
            }
            notice.expect("renaming, editing and reacting in a loop", ratioMax: 12)
            // The bucket, its refill during the attack, and the calls made before.
            let events = try await Psql.run(
                "select count(*) from events where thread_id = '\(id)'", conninfo: database)
            #expect(Int(events) ?? 0 < 2 * 800, "\(events)")
            try await node.stop()
        }
    }
}
