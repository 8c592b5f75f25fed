// A hundred people who read at once, and the events that each of them receives.

import Bench
import TestSupport
import Testing

extension SystemTests {
    @Suite("A storm of receipts on two nodes", .timeLimit(.minutes(3)))
    struct ReceiptStorms {
        @Test("a hundred reads at once reach every member in a few events, none missing")
        func storm() async throws {
            let cluster = try await TestCluster.shared()
            let nodes = try await TestNodes.own(on: cluster)
            let (tokens, room) = try await InsertedPeople.room(of: 100, in: nodes.database, on: cluster)
            let people = tokens.map { Person(id: "", username: "", password: "", session: "", token: $0) }
            let swarm = try PollSwarm(
                urls: nodes.addresses.map(\.description), members: tokens.map { .init(token: $0) })
            async let outcomes = swarm.run()
            try await swarm.waitUntilWaiting(within: .seconds(10))
            _ = try await nodes.a.client.sent("read this", in: room, as: people[0])
            try await eventually("delivered marks", within: .seconds(30), every: .milliseconds(200)) {
                let marked = "select count(*) from members where delivered_seq = 1"
                return try await cluster.psql(marked, database: nodes.database) == "99"
            }
            try await swarm.waitUntilWaiting(within: .seconds(10))
            let cursor = try await nodes.b.client.cursor(of: people[0])
            let before = try await countsAtRest(of: swarm)

            let took = try await ContinuousClock().measure {
                try await read(people.dropFirst(), room, on: nodes)
            }
            let heard = try await hear(of: 99, people[0], from: cursor, on: nodes.a)
            try await swarm.waitUntilWaiting(within: .seconds(10))
            // Each receives their own mark, and the combined marks of each second, some of them half a second late.
            let bound = tokens.count * (Int(took.seconds.rounded(.up)) + 3)
            let counts = swarm.counts
            #expect(counts.events - before.events <= bound, "\(took)")
            #expect(counts.answers - before.answers <= bound, "\(took)")
            #expect(heard.count <= bound / tokens.count)
            let left = "select count(*) from receipt_news"
            #expect(try await cluster.psql(left, database: nodes.database) == "0")

            swarm.stop()
            #expect(try await outcomes.allSatisfy { $0.deliveries.verdict.isGood })
            try await nodes.stop()
        }

        /// Waits until nothing has arrived for a second: the members' presence, which is published late, does not count.
        private func countsAtRest(of swarm: PollSwarm) async throws -> PollSwarm.Counts {
            var last: PollSwarm.Counts?
            return try await eventually("no more events", within: .seconds(30), every: .seconds(1)) {
                defer { last = swarm.counts }
                return swarm.counts == last ? last : nil
            }
        }

        /// Everyone reads at one of the nodes; an answer of the other node then shows it.
        private func read(_ people: some Collection<Person>, _ room: String, on nodes: TestNodes) async throws {
            let people = Array(people)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<10 {
                    group.addTask {
                        let addresses = lane % 2 == 0 ? nodes.addresses : nodes.addresses.reversed()
                        let (here, there) = (Connection(addresses[0]), Connection(addresses[1]))
                        for index in stride(from: lane, to: people.count, by: 10) {
                            let read = try await here.put(
                                "/v1/threads/\(room)/receipts", ["read": 1], as: people[index])
                            #expect(read.status == 204, "\(read)")
                            guard index < 20 else { continue }
                            let inbox = try await there.get("/v1/inbox", as: people[index]).json
                            #expect(inbox["unread_total"] == 0 && inbox["threads"][0]["me"]["read_seq"] == 1)
                        }
                    }
                }
                while try await group.next() != nil {}
            }
        }

        /// Polls until the marks of `count` people were received; returns the events that carried them.
        private func hear(of count: Int, _ person: Person, from start: String, on node: Node) async throws -> [JSON] {
            var cursor = start
            var events: [JSON] = []
            var readers: Set<String> = []
            return try await eventually("marks of \(count)") {
                let answer = try await node.client.sync(person, from: cursor, wait: 5).json
                cursor = answer["cursor"].string ?? cursor
                for event in answer["events"].items where event["type"] == "receipt.updated" {
                    events.append(event)
                    for mark in event["data"]["receipts"].items + [event["data"]] where mark["read_seq"] == 1 {
                        readers.insert(mark["user_id"].string ?? "")
                    }
                }
                return readers.count == count ? events : nil
            }
        }
    }
}
