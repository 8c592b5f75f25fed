// SIGTERM: a node that goes takes nothing with it.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("SIGTERM")
    struct ShutdownTests {
        @Test("fails the readiness check first, then answers every waiting poll, empty and closing, and exits with 0")
        func drain() async throws {
            let nodes = try await Nodes.own(on: try await TestCluster.shared(), settings: ["PARLEY_DRAIN_SECONDS": "2"])
            let ann = try await nodes.a.curl.register("Ann")
            let bob = try await nodes.a.curl.register("Bob")
            let thread = try await nodes.a.curl.thread("direct", by: ann, with: [bob])
            let cursor = try await nodes.a.curl.cursor(of: bob)
            let path = "/v1/sync?cursor=\(cursor)&wait=50"
            let clock = ContinuousClock()
            let health = Connection(nodes.a.address)
            let sender = Connection(nodes.a.address)
            #expect(try await health.get("/health/ready").status == 200)
            #expect(try await sender.get("/v1/users/me", as: ann).status == 200)

            let answers = try await withThrowingTaskGroup(of: (Answer, ContinuousClock.Instant).self) { group in
                for _ in 1...20 {
                    group.addTask {
                        let answer = try await Connection(nodes.a.address).get(path, as: bob, within: .seconds(60))
                        return (answer, clock.now)
                    }
                }
                try await nodes.a.waitForPolls(20)
                nodes.a.program.send(SIGTERM)
                try await eventually("a failing readiness check") {
                    try await health.get("/health/ready").status == 503 ? true : nil
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (answer, _) in answers {
                #expect(answer.status == 200, "\(answer)")
                #expect(answer.json["events"] == [], "\(answer)")
                #expect(answer.json["cursor"].string != nil)
                #expect(answer.headers["connection"]?.lowercased() == "close", "\(answer)")
            }
            // Spread over the drain time, so that the other nodes see no stampede.
            let times = answers.map(\.1)
            let spread = (times.min() ?? clock.now).duration(to: times.max() ?? clock.now)
            #expect(spread > .milliseconds(500), "\(spread)")
            #expect(
                try await nodes.a.program.waitForExit(within: .seconds(10)) == .status(0), "\(nodes.a.program.errors)")

            // Nothing lost on the way: the other node goes on where this one ended.
            let id = try await nodes.b.curl.sent("after", in: thread, as: ann)
            for (answer, _) in answers.prefix(3) {
                let events = try await nodes.b.curl.sync(bob, from: answer.json["cursor"].string ?? "").json["events"]
                #expect(events.items.map { $0["data"]["id"].string } == [id])
            }
            try await nodes.b.stop()
        }

        @Test("under traffic loses and doubles nothing, and takes less than 10 s")
        func underTraffic() async throws {
            let nodes = try await Nodes.own(on: try await TestCluster.shared(), settings: ["PARLEY_DRAIN_SECONDS": "1"])
            let outcome = try await Traffic.run(through: [nodes.a, nodes.b]) { traffic in
                try await traffic.flow(200)
                let (exit, took) = try await nodes.a.stop()
                #expect(exit == .status(0), "\(nodes.a.program.errors)")
                #expect(took < .seconds(10))
                try await traffic.flow(200)
            }
            try await outcome.judge(on: nodes.b)
            #expect(outcome.statuses.keys.allSatisfy { [0, 200, 201, 503].contains($0) }, "\(outcome.statuses)")
            try await nodes.b.stop()
        }

        @Test("lets a request that has begun be answered")
        func requestInFlight() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            let ann = try await node.curl.register("Ann")
            let thread = try await node.curl.thread("group", by: ann, with: [])
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

        @Test("stops a node at once when its database is away", arguments: [SIGTERM, SIGINT])
        func withoutDatabase(signal: Int32) async throws {
            let cluster = try await TestCluster.own()
            let node = try await Node.start(database: try await cluster.createDatabase())
            await cluster.stop(.immediate)
            try await node.waitUntil(ready: false)
            node.program.send(signal)
            #expect(try await node.program.waitForExit(within: .seconds(10)) == .status(0), "\(node.program.errors)")
            await cluster.close()
        }
    }
}
