// Server-sent events, clause by clause of the contract. The streaming devices of every Traffic test their delivery
// under faults.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("A stream of server-sent events", .timeLimit(.minutes(3)))
    struct EventStreams: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        /// Without the events that the service sends on its own.
        private func messageIDs(_ events: [JSON]) -> [String?] {
            events.filter { $0["type"] == "message.created" }.map { $0["data"]["id"].string }
        }

        private func stream(
            _ node: Node, from cursor: String? = nil, lastEventID: String? = nil, limit: Int = 100
        ) async throws -> EventSource {
            let source = try await EventSource(
                Connection(node.address), as: bob, from: cursor, lastEventID: lastEventID, limit: limit)
            try #require(source.answer.status == 200, "\(source.answer)")
            return source
        }

        @Test("sends missed and new events, the same as the long poll")
        func events() async throws {
            let missed = try await say(3)
            let source = try await stream(nodes.b, from: start)
            #expect(source.answer.headers["content-type"] == "text/event-stream")
            #expect(source.answer.headers["cache-control"] == "no-store")
            #expect(source.answer.headers["x-accel-buffering"] == "no")
            var events = try await source.events(3)
            let coming = try await say(2)
            events += try await source.events(2)
            #expect(events.map { $0.json["data"]["id"].string } == missed + coming)
            let polled = try await nodes.a.client.sync(bob, from: start).json["events"].items
            #expect(events.map(\.json) == polled.filter { $0["type"] == "message.created" })
        }

        @Test("has an id after each event, which resumes by header or query, on either node, as stream or poll")
        func resuming() async throws {
            let ids = try await say(5)
            // Two at a time: ids inside an answer and at its end.
            let events = try await stream(nodes.a, from: start, limit: 2).events(5)
            for (index, event) in events.enumerated() {
                let cursor = try #require(event.id)
                let rest = Array(ids[(index + 1)...])
                let polled = try await nodes.b.client.sync(bob, from: cursor).json["events"].items
                #expect(messageIDs(polled) == rest)
                let again = try await stream(nodes.b, from: start, lastEventID: cursor).events(rest.count)
                #expect(again.map { $0.json["data"]["id"].string } == rest)
            }
        }

        @Test("starts at the present without a cursor, and sends that position")
        func noCursor() async throws {
            _ = try await say(1)
            let source = try await stream(nodes.b)
            let first = try #require(try await source.next())
            #expect(first.data == nil && first.id != nil)
            let ids = try await say(1)
            #expect(try await source.events(1).map { $0.json["data"]["id"].string } == ids)
            let polled = try await nodes.a.client.sync(bob, from: first.id ?? "").json["events"].items
            #expect(messageIDs(polled) == ids)
        }

        @Test("is refused with the same problems as a poll")
        func refusals() async throws {
            let connection = Connection(nodes.a.address)
            let nobody = Person(id: "", username: "", password: "", session: "", token: "no")
            #expect(try await EventSource(connection, as: nobody).answer.status == 401)
            let wrong = try await EventSource(connection, as: bob, lastEventID: "x").answer
            #expect(wrong.status == 422 && wrong.json["errors"][0]["field"] == "Last-Event-ID", "\(wrong)")
            #expect(try await EventSource(connection, as: bob, from: "x").answer.status == 422)
            let other = try await TestNodes.own(on: try await TestCluster.shared())
            let cleo = try await other.a.client.register("Cleo")
            _ = try await say(20)
            let ahead = try await nodes.a.client.cursor(of: bob)
            let lost = try await EventSource(Connection(other.b.address), as: cleo, lastEventID: ahead).answer
            #expect(lost.code == "cursor_expired" && lost.json["cursor"].string != nil, "\(lost)")
            try await other.stop()
        }

        @Test("ends when its session is signed out on any node, and other sessions' streams continue")
        func signedOut() async throws {
            let phone = try await nodes.a.client.post(
                "/v1/auth/login", ["username": .string(bob.username), "password": .string(bob.password)])
            let token = try #require(phone.json["session"]["token"].string)
            let other = Person(id: bob.id, username: bob.username, password: "", session: "", token: token)
            let connection = Connection(nodes.b.address)
            let ending = try await EventSource(connection, as: other, from: start)
            let staying = try await stream(nodes.b, from: start)
            #expect(try await ending.next() != nil)
            let session = try #require(phone.json["session"]["id"].string)
            #expect(try await nodes.a.client.delete("/v1/sessions/\(session)", as: bob).status == 204)
            while try await ending.next() != nil {}
            #expect(try await EventSource(connection, as: other, lastEventID: start).answer.status == 401)
            #expect(try await staying.events(1).first?.json["type"] == "session.revoked")
        }

        @Test("sends a heartbeat with the current position every 20 seconds")
        func heartbeat() async throws {
            let cleo = try await nodes.a.client.register("Cleo")
            let source = try await EventSource(Connection(nodes.b.address), as: cleo)
            let first = try #require(try await source.next())
            let clock = ContinuousClock()
            let began = clock.now
            _ = try await say(3)
            let heartbeat = try #require(try await source.next(within: .seconds(40)))
            #expect(began.duration(to: clock.now) > .seconds(15))
            #expect(heartbeat.isComment && heartbeat.data == nil)
            #expect(heartbeat.id != nil && heartbeat.id != first.id)
        }

        @Test("ends when its node stops, spread over the drain time, and resumes on the other node")
        func drained() async throws {
            let own = try await TestNodes.own(
                on: try await TestCluster.shared(),
                settings: ["PARLEY_DRAIN_SECONDS": "2", "PARLEY_SESSION_POLLS_MAX": "10"])
            let cleo = try await own.a.client.register("Cleo")
            let diary = try await own.a.client.thread("group", by: cleo, with: [])
            let cursor = try await own.a.client.cursor(of: cleo)
            let ends = try await withThrowingTaskGroup(of: (String, ContinuousClock.Instant).self) { tasks in
                for _ in 0..<10 {
                    let source = try await EventSource(Connection(own.a.address), as: cleo, from: cursor)
                    tasks.addTask {
                        var last = cursor
                        while let block = try await source.next() { last = block.id ?? last }
                        return (last, .now)
                    }
                }
                try await own.a.waitForPolls(10)
                own.a.program.send(SIGTERM)
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            let times = ends.map(\.1).sorted()
            #expect(times[0].duration(to: times[9]) > .milliseconds(250))
            #expect(try await own.a.program.waitForExit() == .status(0), "\(own.a.program.errors)")
            let id = try await own.b.client.sent("after", in: diary, as: cleo)
            let source = try await EventSource(Connection(own.b.address), as: cleo, lastEventID: ends[0].0)
            #expect(try await source.events(1).first?.json["data"]["id"].string == id)
            try await own.b.stop()
        }
    }
}
