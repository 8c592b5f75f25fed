// One session that opens many polls or streams: how many wait, and how the others end.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Many polls of one session", .timeLimit(.minutes(1)))
    struct WaitingPolls {
        private static func node(_ settings: [String: String] = [:]) async throws -> Node {
            try await Node.start(database: try await MigratedDatabase.create(), settings: settings)
        }

        /// Starts `count` polls, each on its own connection. The node has cached the session and opened its mailbox before.
        private static func open(_ count: Int, of person: Person, at node: Node) async throws -> [Connection] {
            let cursor = try await node.client.cursor(of: person)
            _ = try await node.client.sync(person, from: cursor, wait: 0)
            var request = Request("GET", "/v1/sync?wait=50&cursor=\(cursor)")
            request.headers = [("Authorization", "Bearer \(person.token)")]
            var connections: [Connection] = []
            for _ in 0..<count {
                connections.append(Connection(node.address))
                try await connections[connections.count - 1].begin(request)
            }
            return connections
        }

        /// Sends an event to all polls that still wait, and returns how many were answered before, without events.
        private static func emptyAnswers(of polls: [Connection], of person: Person, at node: Node) async throws -> Int {
            _ = try await node.client.thread("group", by: person, with: [])
            var count = 0
            for poll in polls {
                let answer = try await poll.receive()
                #expect(answer.status == 200 && answer.json["cursor"].string != nil, "\(answer)")
                #expect(answer.json["more"] == false, "\(answer)")
                if answer.json["events"].items.isEmpty { count += 1 }
            }
            return count
        }

        @Test("leave connections to others: eight wait, and older polls are answered without events")
        func connections() async throws {
            let node = try await Self.node(["PARLEY_CONNECTIONS_MAX": "60"])
            let others = try await OtherUsers.join(node)
            let ann = try await node.client.register("Ann")
            // One after the other: a connection whose poll was not handled yet is not idle, so a new client is refused.
            var polls: [Connection] = []
            for number in 1...60 {
                polls += try await Self.open(1, of: ann, at: node)
                try await node.waitForPolls(min(number, 8))
                try await eventually("displaced polls") {
                    try await node.metric("parley_polls_displaced_total") == Double(max(0, number - 8))
                }
            }
            #expect(try await others.sends(for: 0.5).refusedCount == 0)
            #expect(try await Self.emptyAnswers(of: polls, of: ann, at: node) == 52)
            try await node.stop()
        }

        @Test("as streams end with an id and a long retry time, so that they don't displace each other in turn")
        func streams() async throws {
            let node = try await Self.node()
            let ann = try await node.client.register("Ann")
            var streams: [EventSource] = []
            for _ in 0..<10 {
                streams.append(try await EventSource(Connection(node.address), as: ann))
                _ = try await streams[streams.count - 1].next()
                try await node.waitForPolls(min(streams.count, 8))
            }
            for stream in streams.prefix(2) {
                let last = try #require(try await stream.connection.nextBlock(within: .seconds(5)))
                let retry = try #require(last.firstMatch(of: /retry: ([0-9]+)/).flatMap { Int($0.1) })
                #expect(retry >= 15_000 && last.contains("id: "), "\(last)")
                #expect(try await stream.next(within: .seconds(5)) == nil)
            }
            // One poll more displaces the next stream.
            let poll = try await Self.open(1, of: ann, at: node)
            #expect(try await streams[2].next(within: .seconds(5))?.id != nil)
            try await node.waitForPolls(8)
            #expect(try await node.metric("parley_streams_total") == 10)
            #expect(try await node.metric("parley_streams") == 7)
            // The seven others stay as they are: the poll and each of them receive the next event.
            #expect(try await Self.emptyAnswers(of: poll, of: ann, at: node) == 0)
            for stream in streams.suffix(7) {
                #expect(try await stream.events(1).count == 1)
            }
            #expect(try await node.metric("parley_polls_displaced_total") == 3)
            try await node.stop()
        }
    }
}
