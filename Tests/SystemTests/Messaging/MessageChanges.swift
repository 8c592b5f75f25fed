// Changes of a message after sending, seen on another node: waiting polls are notified, and every GET shows them.

import Testing

extension SystemTests {
    @Suite("Changes of messages on two nodes", .timeLimit(.minutes(3)))
    struct MessageChanges {
        let nodes: TestNodes
        let ann: Person
        let bob: Person
        let thread: String
        let path: String

        init() async throws {
            nodes = try await TestNodes.shared()
            ann = try await nodes.a.client.register("Ann")
            bob = try await nodes.b.client.register("Bob")
            thread = try await nodes.a.client.thread("direct", by: ann, with: [bob])
            path = try await "/v1/threads/\(thread)/messages/\(nodes.a.client.sent("helo", in: thread, as: ann))"
        }

        /// Returns the one event with which node B answers a waiting poll when `change` is made on node A.
        private func event(for person: Person, after change: () async throws -> Void) async throws -> JSON {
            let cursor = try await nodes.b.client.cursor(of: person)
            async let poll = nodes.b.client.syncUntilTold(person, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            try await change()
            let events = try await poll.told
            #expect(events.count == 1)
            return try #require(events.first)
        }

        @Test("an edit, a reaction and a deletion wake polls on the other node and are visible there at once")
        func wakes() async throws {
            let edited = try await event(for: bob) {
                let answer = try await nodes.a.client.call("PATCH", path, ["payload": ["text": "hello"]], as: ann)
                #expect(answer.status == 200)
            }
            #expect(edited["type"] == "message.updated" && edited["data"]["payload"]["text"] == "hello")
            #expect(try await nodes.b.client.get(path, as: bob).json == edited["data"])

            let reacted = try await event(for: bob) {
                let answer = try await nodes.a.client.call("PUT", path + "/reactions/%F0%9F%91%8D", as: ann)
                #expect(answer.status == 204)
            }
            #expect(reacted["type"] == "reaction.updated" && reacted["data"]["user_id"].string == ann.id)
            #expect(reacted["data"]["emoji"] == "👍" && reacted["data"]["count"] == 1)
            let shown = try await nodes.b.client.get(path, as: bob).json["reactions"]
            #expect(shown == ["👍": ["count": 1, "me": false]])

            let deleted = try await event(for: bob) {
                let answer = try await nodes.a.client.delete(path, as: ann)
                #expect(answer.status == 204)
            }
            #expect(deleted["type"] == "message.deleted" && deleted["data"]["payload"] == .null)
            #expect(try await nodes.b.client.get(path, as: bob).json == deleted["data"])
        }

        @Test("a deleted text is in no answer to an older cursor, on either node")
        func withdraws() async throws {
            let cursor = try await nodes.b.client.cursor(of: bob)
            let id = try await nodes.a.client.sent("first secret", in: thread, as: ann)
            let secret = "/v1/threads/\(thread)/messages/\(id)"
            _ = try await nodes.b.client.call("PATCH", secret, ["payload": ["text": "second secret"]], as: ann)
            // Both nodes have the content in memory.
            for node in [nodes.a, nodes.b] {
                #expect(try await node.client.sync(bob, from: cursor).text.contains("second secret"))
            }
            #expect(try await nodes.a.client.delete(secret, as: ann).status == 204)
            for node in [nodes.a, nodes.b] {
                let answer = try await node.client.sync(bob, from: cursor)
                #expect(!answer.text.contains("secret"))
                let types = answer.told.map { $0["type"] }
                #expect(types == ["message.created", "message.updated", "message.deleted"])
            }
        }
    }
}
