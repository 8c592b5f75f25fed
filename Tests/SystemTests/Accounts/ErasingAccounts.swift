// An erased account leaves every table, every node's memory and every answer, even when nodes are killed meanwhile.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Erasing an account, on two nodes", .timeLimit(.minutes(3)))
    struct ErasingAccounts {
        /// Waits until all erasures have ended.
        private func waitUntilErased(_ person: Person, in database: String) async throws {
            try await eventually("the erasure to end", within: .seconds(60), every: .milliseconds(50)) {
                let left = try await Psql.run(
                    "select count(*) from erasures where user_id = '\(person.id)'", conninfo: database)
                return left == "0"
            }
        }

        /// Returns the calls whose answers to a person contain one of these texts.
        private func answers(
            with texts: [String], on node: Node, to person: Person, threads: [String], since cursor: String
        ) async throws -> [String] {
            var paths = ["/v1/inbox", "/v1/sync?wait=0&limit=200&cursor=\(cursor)", "/v1/search?q=said"]
            for thread in threads {
                paths += ["", "/messages", "/members"].map { "/v1/threads/\(thread)\($0)" }
            }
            var found: [String] = []
            for path in paths {
                let answer = try await node.client.get(path, as: person)
                try #require([200, 403, 404].contains(answer.status), "\(path): \(answer)")
                for text in texts where answer.text.contains(text) { found.append("\(path): \(text)") }
            }
            return found
        }

        @Test("removes the user's name from every table and every answer, and keeps the messages")
        func leavesNoTrace() async throws {
            let nodes = try await TestNodes.shared()
            let (a, b) = (nodes.a.client, nodes.b.client)
            // Characters that make the name hard to find by text.
            let mark = unique("Trace")
            let ann = try await a.register("Ann")
            let name = "\(mark) \"{}\\ Ann"
            let profile: JSON = [
                "name": .string(name), "profile_image": .string("https://example.org/\(mark)i"),
                "status_text": .string("\(mark)s {\"id\":"), "custom": ["trace": .string("}\(mark)c"), "deep": [[:]]],
            ]
            #expect(try await a.call("PATCH", "/v1/users/me", profile, as: ann).status == 200)
            // Records of an account that has also signed in by mail and by the host app.
            try await Psql.run(
                """
                update users set email = '\(mark)@mail.example', email_key = '\(mark)@mail.example',
                    external_id = 'app|\(mark)x' where id = '\(ann.id)';
                insert into mail_codes (email_key, counted_from, asked, failed) values ('\(mark)@mail.example', now(), 1, 0);
                insert into mails (id, email_key, email, asked_at, due_at) values (gen_random_uuid(), '\(mark)@mail.example',
                    '\(mark)@mail.example', now(), now() + interval '1 day')
                """, conninfo: nodes.database)
            var others: [Person] = []
            for name in ["Bob", "Cleo", "Dave", "Eve"] { others.append(try await b.register(name)) }
            let (bob, cleo, dave, eve) = (others[0], others[1], others[2], others[3])
            var cursors: [String] = []
            for person in others { cursors.append(try await b.cursor(of: person)) }

            let group = try await a.thread("group", by: ann, with: [bob, cleo])
            let members = "/v1/threads/\(group)/members"
            #expect(try await a.put("\(members)/\(bob.id)", ["role": "admin"], as: ann).status == 200)
            let direct = try await a.thread("direct", by: ann, with: [bob])
            let invitation = try await a.thread("direct", by: ann, with: [cleo], invite: true)
            let invited = try await b.thread("direct", by: dave, with: [ann], invite: true)
            for thread in [group, direct] {
                let message = try await a.sent("said by one", in: thread, as: ann)
                let path = "/v1/threads/\(thread)/messages/\(message)"
                #expect(try await a.call("PATCH", path, ["payload": ["text": "said again"]], as: ann).status == 200)
                #expect(try await b.call("PUT", path + "/reactions/%F0%9F%91%8D", as: bob).status == 204)
                _ = try await b.sent("said by another", in: thread, as: bob)
            }
            #expect(try await a.call("PATCH", "/v1/threads/\(group)", ["title": "New"], as: ann).status == 200)
            #expect(try await a.put("\(members)/\(dave.id)", [:], as: ann).status == 200)
            #expect(try await a.put("\(members)/\(eve.id)", ["status": "invited"], as: ann).status == 200)
            #expect(try await b.put("/v1/users/me/blocks/\(ann.id)", [:], as: eve).status == 204)
            #expect(try await a.put("/v1/users/me/blocks/\(eve.id)", [:], as: ann).status == 204)
            let threads = [group, direct, invitation, invited]
            let traces = [mark, ann.username, ann.token]
            // Both nodes have the name in memory, and the checks find it.
            for (person, cursor) in zip(others, cursors) {
                for node in [nodes.a, nodes.b] {
                    let found = try await answers(with: [mark], on: node, to: person, threads: threads, since: cursor)
                    #expect(!found.isEmpty)
                }
            }
            for text in [mark, ann.username] {
                #expect(try await tables(with: text, in: nodes.database).contains("events"))
            }
            #expect(try await tables(with: mark, in: nodes.database).contains("mail"))

            let phone = try await b.logIn(again: ann)
            let own = try await b.cursor(of: phone)
            async let poll = b.sync(phone, from: own, wait: 25)
            try await nodes.b.waitForPolls()
            #expect(try await a.delete("/v1/users/me", as: ann).status == 204)
            // Events that came at the same time may still be answered; the next poll is refused.
            let last = try await poll
            #expect(last.status == 401 || last.status == 200)
            try await eventually("dead sessions") { try await b.get("/v1/users/me", as: phone).status == 401 }
            #expect(try await a.get("/v1/users/me", as: ann).status == 401)
            try await waitUntilErased(ann, in: nodes.database)

            for text in traces { #expect(try await tables(with: text, in: nodes.database) == "", "\(text)") }
            for (person, cursor) in zip(others, cursors) {
                for node in [nodes.a, nodes.b] {
                    let found = try await answers(with: traces, on: node, to: person, threads: threads, since: cursor)
                    #expect(found == [], "\(node.address)")
                }
            }
            try await checkWhatStays(group, direct, ann, bob, nodes)
        }

        private func checkWhatStays(
            _ group: String, _ direct: String, _ ann: Person, _ bob: Person, _ nodes: TestNodes
        ) async throws {
            let b = nodes.b.client
            let messages = try await b.history(of: group, as: bob)
            let said = messages.filter { $0["sender"]["id"].string == ann.id }
            #expect(said.map { $0["payload"]["text"] } == ["said again"])
            #expect(said.first?["sender"]["name"] == "Deleted user" && said.first?["sender"]["profile_image"] == .null)
            let notices = messages.filter { $0["type"] == "system" }
            #expect(notices.allSatisfy { $0["payload"]["by"]["name"] == "Deleted user" }, "\(notices)")
            #expect(notices.last?["payload"]["action"] == "left")
            #expect(try await b.get("/v1/threads/\(group)", as: bob).json["me"]["role"] == "owner")
            let thread = try await b.get("/v1/threads/\(direct)", as: bob).json
            #expect(thread["title"] == "Deleted user" && thread["peer"]["username"] == .null)
            #expect(try await b.get("/v1/users/\(ann.id)", as: bob).code == "user_not_found")
            let again: JSON = ["kind": "direct", "members": [.string(ann.id)]]
            #expect(try await b.post("/v1/threads", again, as: bob).status == 422)
            let credentials: JSON = ["username": .string(ann.username), "password": .string(ann.password)]
            #expect(try await b.post("/v1/auth/login", credentials).code == "wrong_credentials")
            let new: JSON = [
                "username": .string(ann.username), "password": .string(ann.password), "name": "Somebody",
            ]
            #expect(try await b.post("/v1/auth/register", new).status == 201)
        }

        @Test("with thousands of messages is finished by another node when the first is killed")
        func survivesKills() async throws {
            let database = try await MigratedDatabase.create()
            let first = try await Node.start(database: database)
            let ann = try await first.client.register("Ann")
            let bob = try await first.client.register("Bob")
            let thread = try await first.client.thread("group", by: bob, with: [ann])
            let text = unique("words")
            let count = 6_000
            try await fill(thread, by: ann.id, with: text, count: count, in: database)
            #expect(try await first.client.delete("/v1/users/me?messages=erase", as: ann).status == 204)
            let gone = "select count(*) from messages where sender_id = '\(ann.id)' and deleted_at is not null"
            let before = try await eventually("tombstones") { () -> Int? in
                let gone = Int(try await Psql.run(gone, conninfo: database)) ?? 0
                return gone > 0 ? gone : nil
            }
            try await first.kill()
            #expect(before < count, "it was killed in the middle")
            let second = try await Node.start(database: database)
            try await waitUntilErased(ann, in: database)
            #expect(try await Psql.run(gone, conninfo: database) == "\(count)")
            #expect(try await tables(with: text, in: database) == "")
            // Each reader received one event.
            let told =
                "select count(*), count(distinct body::json -> 'data' ->> 'id') from events where type = 'message.deleted'"
            #expect(try await Psql.run(told, conninfo: database) == "\(count)|\(count)")
            let inbox = try await second.client.get("/v1/inbox", as: bob).json
            #expect(inbox["unread_total"] == 0)
            try await second.stop()
        }

        @Test("refuses unknown parameters, and then erases nothing")
        func refuses() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.client.register("Ann")
            for query in ["?messages=all", "?what=1"] {
                #expect(try await nodes.a.client.delete("/v1/users/me\(query)", as: ann).status == 422)
            }
            #expect(try await nodes.b.client.get("/v1/users/me", as: ann).status == 200)
        }
    }
}
