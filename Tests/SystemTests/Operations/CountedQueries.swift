// Polls cost the database nothing, as PostgreSQL counts it.

import Bench
import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Statement counts", .timeLimit(.minutes(5)))
    struct CountedQueries {
        /// The statements that do not depend on the number of polls: the tail's reads, its check of the log's epoch twice a
        /// second, periodic work, and the statements of a new connection.
        private static let upkeep: Set = [
            "log_read", "log_place", "log_extend", "session_touch", "pg_backend_pid", "unnest", "receipt_deliver",
            "receipt_publish", "presence_put", "presence_heartbeat", "presence_sweep", "presence_announce",
            "search_index", "retention_sweep", "session_sweep", "erasure_sweep", "rate_limit_sweep",
            "device_poll_put", "device_poll_heartbeat", "device_poll_sweep", "push_plan", "push_expire",
            "announcement_continue", "attachment_claim", "attachment_sweep", "attachment_places",
            "consumer_list", "webhook_tend", "command_step", "report_count", "outbox_step", "hold_sweep", "hold_counts",
            // The listener's heartbeat. Announcements of events call pg_notify as well, but inside their functions.
            "pg_notify",
        ]

        @Test("readers of the changes feed cost no statement while they wait, and then one each")
        func waitingForChanges() async throws {
            let database = try await CountingDatabase.create()
            let token = "admin-of-the-counts"
            let node = try await Node.start(database: database.conninfo, settings: ["PARLEY_ADMIN_TOKEN": token])
            let ann = try await node.client.register("Ann")
            let thread = try await node.client.thread("group", by: ann, with: [])
            var request = Request("GET", "/v1/admin/changes")
            request.headers = [("Authorization", "Bearer \(token)")]
            let start = try await node.client.send(request).json["cursor"].string ?? ""
            request.path += "?wait=55&cursor=\(start)"
            let readers = (0..<10).map { _ in Connection(node.address) }
            for reader in readers { try await reader.begin(request) }
            try await eventually("ten readers") {
                try await node.metric("parley_changes_readers") == 10
            }
            /// The reads of the feed during a number of the tail's checks, of which it makes two a second.
            func readCount(duringChecks checkCount: Int) async throws -> Int {
                try await database.reset()
                try await eventually("\(checkCount) checks of the log") {
                    try await database.counts()["log_place"]?.calls ?? 0 >= checkCount
                }
                return try await database.counts()["changes_read"]?.calls ?? 0
            }
            // The tail may not have reached the end of the log when they came.
            try await eventually("readers that wait") { try await readCount(duringChecks: 2) == 0 }
            #expect(try await readCount(duringChecks: 6) == 0)
            _ = try await node.client.sent("hi", in: thread, as: ann)
            for reader in readers { #expect(try await reader.receive().json["events"].items.count == 1) }
            #expect(try await database.counts()["changes_read"]?.calls == readers.count)
        }

        @Test("ten thousand polls cost no statement of their own")
        func steadyState() async throws {
            let database = try await CountingDatabase.create()
            let node = try await Node.start(database: database.conninfo)
            let (tokens, room) = try await InsertedPeople.room(of: 20, in: database.conninfo, on: database.cluster)
            let sender = Connection(node.address)
            // People who receive each message, and one who receives none, so that those polls time out.
            let idle = try await node.client.register("Idle")
            let members = try PollSwarm(urls: ["\(node.address)"], members: tokens.map { .init(token: $0) })
            var brief = PolledDevice.Settings()
            brief.wait = 1
            let others = try PollSwarm(
                urls: ["\(node.address)"], members: (0..<5).map { _ in .init(token: idle.token) }, settings: brief)
            async let outcomes = members.run()
            async let idleOutcomes = others.run()
            try await members.waitUntilWaiting(within: .seconds(10))
            try await others.waitUntilWaiting(within: .seconds(10))
            try await node.waitForPolls(25)

            try await database.reset()
            let started = ContinuousClock.now
            let before = (members.counts, others.counts)
            let messageCount = 500
            for number in 1...messageCount {
                let answer = try await sender.say("\(number)", in: room, token: tokens[0])
                try #require(answer.status == 201, "\(answer)")
                try await eventually("message \(number) everywhere") {
                    members.counts.messages == number * tokens.count
                }
                try await members.waitUntilWaiting(within: .seconds(5))
            }
            try await eventually("polls to time out") {
                others.counts.answers >= before.1.answers + 10
            }
            try await eventually("delivered marks") { try await database.counts()["receipt_deliver"] != nil }
            let seconds = Int(started.duration(to: .now).seconds.rounded(.up))
            let counts = try await database.counts()
            #expect(members.counts.answers - before.0.answers >= 10_000)
            #expect(Set(counts.keys).subtracting(Self.upkeep) == ["message_append_new"], "\(counts)")
            #expect(counts["message_append_new"]?.calls == messageCount)
            // The marks that polls report are written every five seconds, however many polls there were.
            let markCalls = counts["receipt_deliver"]?.calls ?? 0
            #expect((1...(seconds / 5 + 2)).contains(markCalls), "\(counts)")
            // Two safety reads a second. The node reads its own writes only if a safety read comes first, or marks come
            // between them.
            #expect(counts["log_read"]?.calls ?? 0 <= 2 * seconds + 2 + 4 * markCalls, "\(counts)")
            #expect(counts["log_place"]?.calls ?? 0 <= 2 * seconds + 2, "\(counts)")
            // A heartbeat every 10 s, and one more if the listener had to connect again.
            #expect(counts["pg_notify"]?.calls ?? 0 <= seconds / 10 + 2, "\(counts)")

            members.stop()
            others.stop()
            #expect(try await outcomes.allSatisfy { $0.deliveries.verdict.isGood })
            _ = try await idleOutcomes
            try await node.stop()
        }

        @Test("events on a stream cost no statement of their own")
        func streams() async throws {
            let database = try await CountingDatabase.create()
            let node = try await Node.start(database: database.conninfo)
            let ann = try await node.client.register("Ann")
            let thread = try await node.client.thread("group", by: ann, with: [])
            let cursor = try await node.client.cursor(of: ann)
            let source = try await EventSource(Connection(node.address), as: ann, from: cursor)
            let sender = Connection(node.address)
            _ = try await sender.sent("first", in: thread, as: ann)
            #expect(try await source.events(1).count == 1)

            try await database.reset()
            let messageCount = 200
            for number in 1...messageCount { _ = try await sender.sent("\(number)", in: thread, as: ann) }
            #expect(try await source.events(messageCount).count == messageCount)
            let counts = try await database.counts()
            #expect(Set(counts.keys).subtracting(Self.upkeep) == ["message_append_new"], "\(counts)")
            try await node.stop()
        }

        @Test("an event for two thousand waiting members costs one read per node, and none on the writing node")
        func room() async throws {
            let database = try await CountingDatabase.create()
            let nodes = [
                try await Node.start(database: database.conninfo), try await Node.start(database: database.conninfo),
            ]
            let (tokens, room) = try await InsertedPeople.room(
                of: 2_000, in: database.conninfo, on: database.cluster)
            let swarm = try PollSwarm(
                urls: nodes.map { "\($0.address)" }, members: tokens.map { .init(token: $0) })
            async let outcomes = swarm.run()
            try await swarm.waitUntilWaiting(within: .seconds(20))
            for node in nodes { try await node.waitForPolls(1_000) }

            try await database.reset()
            let sender = Connection(nodes[0].address)
            let messageCount = 5
            for number in 1...messageCount {
                let answer = try await sender.say("\(number)", in: room, token: tokens[0])
                try #require(answer.status == 201, "\(answer)")
                try await eventually("message \(number) everywhere") {
                    swarm.counts.messages == number * tokens.count
                }
                try await swarm.waitUntilWaiting(within: .seconds(5))
            }
            let counts = try await database.counts()
            #expect(Set(counts.keys).subtracting(Self.upkeep) == ["message_append_new"], "\(counts)")
            let rows = messageCount * (nodes.count - 1)...messageCount * nodes.count
            #expect(rows.contains(counts["log_read"]?.rows ?? 0), "\(counts)")

            // All but the sender get delivered marks, in batches of a hundred, without notifications.
            try await eventually("delivered marks", within: .seconds(30), every: .milliseconds(200)) {
                let marked = "select count(*) from members where delivered_seq = \(messageCount)"
                return try await database.sql(marked) == "1999"
            }
            let marks = try await database.counts()["receipt_deliver"]?.calls ?? 0
            #expect((20...120).contains(marks), "\(marks)")
            #expect(try await database.sql("select count(*) from events where type = 'receipt.updated'") == "0")

            swarm.stop()
            #expect(try await outcomes.allSatisfy { $0.deliveries.verdict.isGood })
            for node in nodes { try await node.stop() }
        }
    }
}
