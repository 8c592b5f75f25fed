// The cursor of a poll acknowledges received events, even when the node that received the poll dies.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Delivered marks from cursors, on two nodes", .timeLimit(.minutes(3)))
    struct DeliveredMarks {
        @Test("a mark lost with its node is reported again by the next poll on any node")
        func survives() async throws {
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let (ann, bob, thread) = try await people(nodes.a.client)
            let cursor = try await nodes.b.client.cursor(of: bob)
            let annFrom = try await nodes.a.client.cursor(of: ann)
            let id = try await nodes.a.client.sent("one", in: thread, as: ann)
            let got = try await nodes.b.client.sync(bob, from: cursor).json
            let next = got["cursor"].string ?? ""
            // The mark cannot be written meanwhile, nor later by a statement that the killed node began.
            async let holding = Psql.run(
                "begin; select 1 from members where user_id = '\(bob.id)' for update; \(Psql.sleep) commit;",
                conninfo: nodes.database)
            #expect(try await Psql.isAsleep(in: nodes.database))
            _ = try await nodes.b.client.sync(bob, from: next)
            try await nodes.b.kill()
            try await Psql.endBlocked(in: nodes.database)
            try await Psql.wake(in: nodes.database)
            _ = try await holding
            let path = "/v1/threads/\(thread)/messages/\(id)/receipts"
            #expect(try await nodes.a.client.get(path, as: ann).json["receipts"] == [])

            _ = try await nodes.a.client.sync(bob, from: next, wait: 1)
            #expect(try await firstMark(nodes.a, ann, from: annFrom)["delivered_seq"] == 1)
            #expect(try await nodes.a.client.get(path, as: ann).json["receipts"].items.count == 1)
            try await nodes.a.stop()
        }

        private func people(_ client: Client) async throws -> (ann: Person, bob: Person, thread: String) {
            let ann = try await client.register("Ann")
            let bob = try await client.register("Bob")
            return (ann, bob, try await client.thread("direct", by: ann, with: [bob]))
        }

        /// Returns the first marks that a person receives, by polling.
        private func firstMark(_ node: Node, _ person: Person, from start: String) async throws -> JSON {
            var cursor = start
            return try await eventually("a delivered mark") {
                let answer = try await node.client.sync(person, from: cursor, wait: 5).json
                cursor = answer["cursor"].string ?? cursor
                return answer["events"].items.first { $0["type"] == "receipt.updated" }?["data"]
            }
        }
    }
}
