// Presence and typing, sent across nodes and never stored.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Presence and typing on two nodes", .timeLimit(.minutes(3)))
    struct PresenceAndTyping {
        /// Ann and Bob, who share a direct thread.
        private struct Pair {
            let ann: Person
            let bob: Person
            let thread: String

            init(_ client: Client) async throws {
                ann = try await client.register("Ann")
                bob = try await client.register("Bob")
                thread = try await client.thread("direct", by: ann, with: [bob])
            }
        }

        /// Polls from a cursor until an event of the type is received; returns the event and its answer's cursor.
        private func next(_ type: String, _ node: Node, _ person: Person, from start: String) async throws
            -> (event: JSON, cursor: String)
        {
            var cursor = start
            return try await eventually("\(type)") {
                let answer = try await node.client.sync(person, from: cursor, wait: 25).json
                cursor = answer["cursor"].string ?? cursor
                return answer["events"].items.first { $0["type"].string == type }.map { ($0, cursor) }
            }
        }

        private func presence(of person: Person, for viewer: Person, on node: Node) async throws -> String? {
            try await node.client.get("/v1/users/\(person.id)", as: viewer).json["presence"].string
        }

        @Test("a person who polls on one node is online on the other, only for people who share a thread")
        func comesOnline() async throws {
            let nodes = try await TestNodes.shared()
            let pair = try await Pair(nodes.a.client)
            let stranger = try await nodes.a.client.register("Eve")
            #expect(try await presence(of: pair.ann, for: pair.bob, on: nodes.b) == "offline")
            let cursor = try await nodes.b.client.cursor(of: pair.bob)
            async let heard = next("presence.updated", nodes.b, pair.bob, from: cursor)
            try await nodes.b.waitForPolls()
            let annFrom = try await nodes.a.client.cursor(of: pair.ann)
            _ = try await nodes.a.client.sync(pair.ann, from: annFrom)
            let event = try await heard.event
            #expect(event["data"]["user_id"].string == pair.ann.id && event["data"]["presence"] == "online", "\(event)")
            for node in [nodes.a, nodes.b] {
                #expect(try await presence(of: pair.ann, for: pair.bob, on: node) == "online")
                #expect(try await presence(of: pair.ann, for: stranger, on: node) == nil)
                let peer = try await node.client.get("/v1/inbox", as: pair.bob).json["threads"][0]["peer"]
                #expect(peer["presence"] == "online" && peer["last_seen_at"] == .null)
            }
        }

        @Test("turning sharing off hides presence at once, turning it on shows it again")
        func optsOut() async throws {
            let nodes = try await TestNodes.shared()
            let pair = try await Pair(nodes.a.client)
            let cursor = try await nodes.b.client.cursor(of: pair.bob)
            _ = try await nodes.b.client.sync(pair.bob, from: cursor)
            func share(_ shares: Bool) async throws {
                let body: JSON = ["preferences": ["share_presence": .bool(shares)]]
                #expect(try await nodes.a.client.call("PATCH", "/v1/users/me", body, as: pair.ann).status == 200)
            }
            // Only a poll that waits receives such an event.
            async let hiding = next("presence.updated", nodes.b, pair.bob, from: cursor)
            try await nodes.b.waitForPolls()
            try await share(false)
            let hidden = try await hiding
            #expect(try await presence(of: pair.ann, for: pair.bob, on: nodes.b) == nil)
            #expect(hidden.event["data"]["user_id"].string == pair.ann.id)
            #expect(hidden.event["data"]["presence"] == .null && hidden.event["data"]["last_seen_at"] == .null)
            async let showing = next("presence.updated", nodes.b, pair.bob, from: hidden.cursor)
            try await nodes.b.waitForPolls()
            try await share(true)
            let shown = try await showing
            #expect(shown.event["data"]["presence"] == "offline" && shown.event["data"]["last_seen_at"].string != nil)
        }

        @Test("typing reaches a waiting poll on the other node, moves no cursor and is not logged")
        func types() async throws {
            // Separate nodes: late events of other tests on shared nodes could move the cursor.
            let nodes = try await TestNodes.own(on: try await TestCluster.shared())
            let pair = try await Pair(nodes.a.client)
            let path = "/v1/threads/\(pair.thread)/typing"
            let cursor = try await nodes.b.client.cursor(of: pair.bob)
            async let heard = next("typing", nodes.b, pair.bob, from: cursor)
            try await nodes.b.waitForPolls()
            #expect(try await nodes.a.client.call("PUT", path, as: pair.ann).status == 204)
            let typing = try await heard
            #expect(typing.event["thread_id"].string == pair.thread)
            #expect(typing.event["data"]["user_id"].string == pair.ann.id)
            #expect(typing.cursor == cursor)
            #expect(try await nodes.a.client.sync(pair.ann, from: cursor).json["events"] == [])

            let stranger = try await nodes.a.client.register("Eve")
            #expect(try await nodes.b.client.call("PUT", path, as: stranger).code == "thread_not_found")
            #expect(try await nodes.b.client.put(path, ["on": true], as: pair.ann).status == 422)
            let kept = try await TestCluster.shared().psql(
                "select count(*) from events where type in ('typing', 'presence.updated')", database: nodes.database)
            #expect(kept == "0")
            try await nodes.stop()
        }

        @Test("typing and presence are not sent in a room of more than a hundred")
        func largeRoom() async throws {
            let database = try await CountingDatabase.create()
            let node = try await Node.start(database: database.conninfo)
            let (tokens, room) = try await InsertedPeople.room(of: 101, in: database.conninfo, on: database.cluster)
            let people = tokens.map { Person(id: "", username: "", password: "", session: "", token: $0) }
            let cursor = try await node.client.cursor(of: people[1])
            async let poll = node.client.sync(people[1], from: cursor, wait: 5)
            try await node.waitForPolls()
            #expect(try await node.client.call("PUT", "/v1/threads/\(room)/typing", as: people[0]).status == 204)
            _ = try await node.client.sync(people[0], from: cursor)
            #expect(try await poll.json["events"] == [])
            #expect(try await database.counts()["presence_announce"] == nil)
            try await node.stop()
        }
    }
}
