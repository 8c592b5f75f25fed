// Expired content leaves every table and every node, even when nodes are killed meanwhile.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Disappearing messages, on two nodes", .timeLimit(.minutes(3)))
    struct DisappearingMessages {
        /// Returns the calls by which a person still receives a text from a node.
        private func answers(
            with text: String, on node: Node, _ person: Person, in thread: String, since cursor: String
        )
            async throws -> [String]
        {
            var found: [String] = []
            for path in [
                "/v1/inbox", "/v1/threads/\(thread)", "/v1/threads/\(thread)/messages",
                "/v1/sync?wait=0&cursor=\(cursor)", "/v1/search?q=\(text)",
            ] {
                let answer = try await node.client.get(path, as: person)
                try #require(answer.status == 200, "\(answer)")
                if answer.text.contains(text) { found.append(path) }
            }
            return found
        }

        /// Lets a thread's messages expire now, or at random moments of the next seconds.
        private func expire(_ thread: String, overSeconds seconds: Int = 0, in database: String) async throws {
            try await Psql.run(
                """
                update message_expiries set expires_at = now() + random() * interval '\(seconds) s'
                where thread_id = '\(thread)'
                """, conninfo: database)
        }

        private func group(
            _ nodes: TestNodes, _ retention: JSON, by ann: Person, with bob: Person
        ) async throws -> String {
            let body: JSON = ["kind": "group", "members": [.string(bob.id)], "retention": retention]
            let made = try await nodes.a.client.post("/v1/threads", body, as: ann)
            try #require(made.status == 201, "\(made)")
            return made.json["id"].string ?? ""
        }

        @Test("an expired message leaves every table and the memory of every node")
        func expires() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let bob = try await nodes.b.client.register("Bob")
            let thread = try await group(nodes, ["keep": "seconds", "seconds": 600], by: ann, with: bob)
            let cursor = try await nodes.b.client.cursor(of: bob)
            let text = unique("evanescent")
            let id = try await nodes.a.client.sent(text, in: thread, as: ann)
            let path = "/v1/threads/\(thread)/messages/\(id)"
            #expect(
                try await nodes.a.client.call("PATCH", path, ["payload": ["text": .string(text + " 2")]], as: ann)
                    .status
                    == 200)
            // Both nodes have the text in memory.
            for (node, person) in [(nodes.a, ann), (nodes.b, bob)] {
                #expect(try await node.client.syncUntilTold(person, from: cursor, wait: 5).text.contains(text))
                #expect(try await answers(with: text, on: node, person, in: thread, since: cursor).count == 5)
            }
            try await expire(thread, in: nodes.database)
            let follower = Follower(person: bob, addresses: [nodes.b.address])
            let seen = try await follower.run(Traffic(), from: cursor, within: .seconds(30)) {
                $0.type == "message.deleted"
            }
            #expect(
                seen.seenEvents.filter { $0.type.hasPrefix("message.") }.map(\.type)
                    == ["message.created", "message.updated", "message.deleted"])
            #expect(try await tables(with: text, in: nodes.database) == "")
            for (node, person) in [(nodes.a, ann), (nodes.b, bob)] {
                #expect(try await answers(with: text, on: node, person, in: thread, since: cursor) == [])
                let message = try await node.client.get(path, as: person).json
                #expect(message["payload"] == .null && message["deleted_at"].string != nil)
            }
            #expect(try await nodes.a.client.get("/v1/inbox", as: bob).json["unread_total"] == 0)
        }

        @Test("content is removed once the last device has it, no sooner, and the rest of the message stays")
        func untilDelivered() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let bob = try await nodes.b.client.register("Bob")
            let phone = try await nodes.a.client.logIn(again: bob)
            let thread = try await group(nodes, ["keep": "until_delivered"], by: ann, with: bob)
            let cursor = try await nodes.a.client.cursor(of: ann)
            let text = unique("ephemeral")
            let id = try await nodes.a.client.sent(text, in: thread, as: ann)
            let path = "/v1/threads/\(thread)/messages/\(id)"
            // Two devices acknowledge the message with their next poll; Bob's phone has received it only.
            let head = try await nodes.a.client.syncUntilTold(ann, from: cursor, wait: 5).json["cursor"].string ?? ""
            #expect(try await nodes.b.client.syncUntilTold(bob, from: cursor, wait: 5).text.contains(text))
            #expect(try await nodes.a.client.syncUntilTold(phone, from: cursor, wait: 5).text.contains(text))
            _ = try await nodes.a.client.sync(ann, from: head)
            _ = try await nodes.b.client.sync(bob, from: head)
            try await nodes.waitUntilChecked(thread, have: [ann, bob])
            #expect(try await nodes.a.client.get(path, as: ann).json["payload"]["text"].string == text)

            _ = try await nodes.b.client.sync(phone, from: head)
            try await eventually("no trace of it") {
                try await tables(with: text, in: nodes.database) == ""
            }
            let pages = [(nodes.a, ann), (nodes.b, bob), (nodes.b, phone), (nodes.a, phone)]
            for (node, person) in pages {
                try await eventually("no answer with it") {
                    try await answers(with: text, on: node, person, in: thread, since: cursor) == []
                }
                let message = try await node.client.get(path, as: person).json
                #expect(message["payload"] == .null && message["deleted_at"] == .null && message["seq"] == 1)
            }
            // The message stays unread, and no event reports the removal of the content.
            #expect(try await nodes.a.client.get("/v1/inbox", as: bob).json["unread_total"] == 1)
            for (node, person) in pages {
                let types = try await node.client.sync(person, from: cursor).json["events"].items.map {
                    $0["type"].string
                }
                #expect(types.filter { $0?.hasPrefix("message.") == true } == ["message.created"])
            }
            let again = try await nodes.b.client.say(text, in: thread, as: ann, id: id)
            #expect(again.status == 200 && again.json["payload"] == .null)
            #expect(try await nodes.a.client.call("PATCH", path, ["payload": ["text": "x"]], as: ann).status == 409)
        }

        @Test("an edit waits for devices that lack it, but not for devices that are signed out or silent")
        func laggards() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            let bob = try await nodes.b.client.register("Bob")
            let phone = try await nodes.b.client.logIn(again: bob)
            let tablet = try await nodes.b.client.logIn(again: bob)
            let thread = try await group(nodes, ["keep": "until_delivered"], by: ann, with: bob)
            let cursor = try await nodes.a.client.cursor(of: ann)
            let text = unique("transient")
            let id = try await nodes.a.client.sent(text, in: thread, as: ann)
            let path = "/v1/threads/\(thread)/messages/\(id)"
            let created = try await nodes.a.client.syncUntilTold(ann, from: cursor, wait: 5).json["cursor"].string ?? ""
            #expect(
                try await nodes.a.client.call("PATCH", path, ["payload": ["text": .string(text)]], as: ann).status
                    == 200)
            let edited = try await nodes.a.client.call(
                "PATCH", path, ["payload": ["text": .string(text + "!")]], as: ann)
            #expect(edited.status == 200)
            let head = try await nodes.a.client.cursor(of: ann)
            for person in [ann, phone, tablet] { _ = try await nodes.b.client.sync(person, from: created) }
            // Receives the message, but not its edit.
            _ = try await nodes.b.client.sync(bob, from: created)
            _ = try await nodes.a.client.sync(ann, from: head)
            try await nodes.waitUntilChecked(thread, have: [ann])
            #expect(try await nodes.a.client.get(path, as: ann).json["payload"]["text"].string == text + "!")
            // A delivered mark counts too: for its message and all before it.
            let mark: JSON = [
                "delivered": .init(try await nodes.a.client.say("next", in: thread, as: ann).json["seq"].int ?? 0)
            ]
            #expect(try await nodes.b.client.put("/v1/threads/\(thread)/receipts", mark, as: bob).status == 204)
            // Two devices lack the edit: one signs out, the other has been silent for long.
            #expect(try await nodes.a.client.delete("/v1/sessions/\(phone.session)", as: bob).status == 204)
            try await nodes.waitUntilChecked(thread, have: [ann, bob], message: 1)
            #expect(try await nodes.a.client.get(path, as: ann).json["payload"]["text"].string == text + "!")
            // Repeated, because a node may still record that the tablet was used a moment ago.
            try await eventually("no trace of it") {
                try await Psql.run(
                    """
                    update sessions set last_used_at = now() - interval '31 days' where id = '\(tablet.session)';
                    insert into undelivered_checks values ('\(thread)', now());
                    """, conninfo: nodes.database)
                return try await tables(with: text, in: nodes.database) == ""
            }
        }

        @Test("each expiry is handled once, whichever nodes are killed")
        func survivesKills() async throws {
            let database = try await MigratedDatabase.create()
            let fleet = try await RestartableNodes.start(3, on: database)
            let ann = try await fleet[0].client.register("Ann")
            let thread = try await fleet[0].client.thread("group", by: ann, with: [])
            let cursor = try await fleet[0].client.cursor(of: ann)
            let text = unique("fleeting")
            let count = 600
            let connection = Connection(fleet.addresses[2])
            for number in 0..<count {
                let body: JSON = ["payload": ["text": .string("\(text) \(number)")], "expires_in_s": 600]
                #expect(try await connection.post("/v1/threads/\(thread)/messages", body, as: ann).status == 201)
            }
            // Two of the three nodes are killed during the work, at different times.
            try await expire(thread, overSeconds: 6, in: database)
            for index in 0...1 {
                let left = try await eventually("the first content to be removed") {
                    let left =
                        Int(
                            try await Psql.run(
                                "select count(*) from messages where payload::text like '%\(text)%'", conninfo: database
                            )) ?? 0
                    return left < count - index * 150 ? left : nil
                }
                #expect(left > 0, "the node finished before it could be killed")
                try await fleet.kill(index)
            }
            try await eventually("all content to be removed") {
                try await tables(with: text, in: database) == ""
            }
            let events = try await Follower.replay(ann, from: cursor, on: fleet.addresses[2])
            let deleted = events.filter { $0["type"] == "message.deleted" }.compactMap { $0["data"]["seq"].int }
            #expect(deleted.sorted() == Array(1...count))
            #expect(!events.contains { "\($0)".contains(text) })
            try await fleet.stop(2)
        }
    }
}
