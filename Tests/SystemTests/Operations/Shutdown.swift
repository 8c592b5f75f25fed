// SIGTERM: a node stops without losing anything.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("SIGTERM", .timeLimit(.minutes(2)))
    struct Shutdown {
        private struct Drained: Sendable {
            let person: Person
            let answer: Answer
            let at: ContinuousClock.Instant
        }

        @Test("fails the readiness check first, then answers every waiting poll without events, and exits with 0")
        func drain() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(), settings: ["PARLEY_DRAIN_SECONDS": "2"])
            let ann = try await nodes.a.client.register("Ann")
            var guests: [Person] = []
            // They do not share presence, because an event about it would answer the others' polls.
            let alone: JSON = ["preferences": ["share_presence": false]]
            for _ in 1...10 {
                guests.append(try await nodes.a.client.register("Guest"))
                _ = try await nodes.a.client.call("PATCH", "/v1/users/me", alone, as: guests.last)
            }
            let group = try await nodes.a.client.thread("group", by: ann, with: guests)
            let diary = try await nodes.a.client.thread("group", by: ann, with: [])
            let path = "/v1/sync?wait=50&cursor=\(try await nodes.a.client.cursor(of: ann))"
            let (health, sender) = (Connection(nodes.a.address), Connection(nodes.a.address))
            #expect(try await health.get("/health/ready").status == 200)
            #expect(try await sender.get("/v1/users/me", as: ann).status == 200)

            let drained = try await withThrowingTaskGroup(of: Drained.self) { tasks in
                for guest in guests {
                    tasks.addTask {
                        let answer = try await Connection(nodes.a.address).get(path, as: guest, within: .seconds(60))
                        return Drained(person: guest, answer: answer, at: .now)
                    }
                }
                try await nodes.a.waitForPolls(guests.count)
                nodes.a.program.send(SIGTERM)
                try await eventually("a failing readiness check") {
                    try await health.get("/health/ready").status == 503
                }
                // Sends in the meantime are answered, with `Connection: close`.
                let sent = try await sender.say("meanwhile", in: diary, as: ann)
                #expect(sent.status == 201 && sent.headers["connection"]?.lowercased() == "close", "\(sent)")
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            for answer in drained.map(\.answer) {
                #expect(answer.status == 200, "\(answer)")
                #expect(answer.json["events"] == [] && answer.json["cursor"].string != nil, "\(answer)")
                #expect(answer.headers["connection"]?.lowercased() == "close", "\(answer)")
            }
            // Spread over the drain time, so that the other nodes see no stampede.
            let times = drained.map(\.at).sorted()
            #expect(times[0].duration(to: times[times.count - 1]) > .milliseconds(250))
            #expect(
                try await nodes.a.program.waitForExit(within: .seconds(10)) == .status(0), "\(nodes.a.program.errors)")
            #expect(!nodes.a.program.errors.contains("stopping took too long"), "\(nodes.a.program.errors)")

            // Nothing is lost: the other node continues where this one stopped.
            let id = try await nodes.b.client.sent("after", in: group, as: ann)
            for guest in drained {
                let events = try await nodes.b.client.sync(guest.person, from: guest.answer.json["cursor"].string ?? "")
                #expect(events.json["events"].items.map { $0["data"]["id"].string } == [id])
            }
            try await nodes.b.stop()
        }

        @Test("answers requests that have begun")
        func requestInFlight() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let ann = try await node.client.register("Ann")
            let thread = try await node.client.thread("group", by: ann, with: [])
            let connection = Connection(node.address)
            #expect(try await connection.get("/v1/users/me", as: ann).status == 200)
            let body = Data(#"{"payload": {"text": "in flight"}}"#.utf8)
            let head = """
                POST /v1/threads/\(thread)/messages HTTP/1.1\r\nHost: parley\r\nAuthorization: Bearer \(ann.token)\r
                Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n
                """
            try await connection.write(Data(head.utf8) + body.prefix(10))
            async let stopped = node.stop()
            try await node.waitUntil(ready: false)
            try await connection.write(body.dropFirst(10))
            #expect(try await connection.receive().status == 201)
            #expect(try await stopped.exit == .status(0), "\(node.program.errors)")
            #expect(try await stopped.took < .seconds(10))
        }

        @Test("stops a node at once when its database is down")
        func withoutDatabase() async throws {
            let cluster = try await StoppableCluster.running()
            let node = try await Node.start(database: try await cluster.createDatabase())
            await cluster.stop(.immediate)
            try await node.waitUntil(ready: false)
            let (exit, took) = try await node.stop()
            #expect(exit == .status(0), "\(node.program.errors)")
            #expect(took < .seconds(5))
        }

        @Test("ends in order, before the time for it is over, though its database is down and there is much to record")
        func recordsWithoutDatabase() async throws {
            let cluster = try await StoppableCluster.running()
            try await endsInOrder(database: try await cluster.createDatabase()) { await cluster.stop(.immediate) }
        }

        @Test("ends in order, before the time for it is over, though its connections to the database are half-open")
        func recordsHalfOpen() async throws {
            let cluster = try await TestCluster.shared()
            let proxy = try cluster.proxy()
            let database = TestCluster.conninfo(try await cluster.createDatabase(), through: proxy)
            try await endsInOrder(database: database) { proxy.strand() }
        }

        /// Ends a node that has to record the use of a session and the end of a poll, after the database has gone.
        private func endsInOrder(database: String, _ lose: () async -> Void) async throws {
            let node = try await Node.start(database: database)
            let ann = try await node.client.register("Ann")
            let path = "/v1/sync?wait=50&cursor=\(try await node.client.cursor(of: ann))"
            async let poll = Connection(node.address).get(path, as: ann, within: .seconds(60))
            try await node.waitForPolls()
            await lose()
            // It fails if the node ran out of time, and so left out a part of its end.
            let (exit, _) = try await node.stop()
            #expect(exit == .status(0), "\(node.program.errors)")
            #expect(node.program.errors.contains("info parley: stopped"), "\(node.program.errors)")
            #expect(try await poll.status == 200)
        }
    }
}
