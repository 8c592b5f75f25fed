// Notifications when people join, leave and rename threads: on two nodes at once, in the log's order.

import Testing

extension SystemTests {
    @Suite("Members of a thread on two nodes", .timeLimit(.minutes(3)))
    struct MembersOnTwoNodes: TwoPeopleSuite {
        let people: TwoPeople

        init() async throws { people = try await TwoPeople() }

        /// Returns the types of a thread's events after a cursor, with the action of a system message and the status of a
        /// member.
        private func told(
            _ person: Person, from cursor: String, of thread: String, on node: Node
        ) async throws -> [String] {
            let answer = try await node.client.sync(person, from: cursor)
            #expect(answer.json["more"] == false)
            return answer.told.filter { $0["thread_id"].string == thread }.map { event in
                let data = event["data"]
                let detail = data["payload"]["action"].string ?? data["payload"]["text"].string ?? data["status"].string
                return [event["type"].string, detail].compactMap { $0 }.joined(separator: " ")
            }
        }

        private func expectTold(
            _ person: Person, from cursor: String, of thread: String, _ expected: [String],
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            for node in [nodes.a, nodes.b] {
                let events = try await told(person, from: cursor, of: thread, on: node)
                #expect(events == expected, sourceLocation: sourceLocation)
            }
        }

        @Test("invited people get the thread but no messages until they accept")
        func invites() async throws {
            let cursors = (try await nodes.a.client.cursor(of: ann), try await nodes.b.client.cursor(of: bob))
            let group = try await nodes.a.client.thread("group", by: ann, with: [bob], invite: true)
            let path = "/v1/threads/\(group)"
            _ = try await nodes.a.client.sent("before", in: group, as: ann)
            try await expectTold(bob, from: cursors.1, of: group, ["thread.created"])
            let invitation = try await nodes.b.client.sync(bob, from: cursors.1).json["events"][0]
            #expect(invitation["data"]["members"] == [])
            #expect(try await nodes.b.client.put(path + "/members/me", ["status": "joined"], as: bob).status == 200)
            _ = try await nodes.a.client.sent("after", in: group, as: ann)
            let joined = ["member.updated joined", "message.created joined", "message.created after"]
            try await expectTold(bob, from: cursors.1, of: group, ["thread.created", "thread.created"] + joined)
            try await expectTold(
                ann, from: cursors.0, of: group, ["thread.created", "message.created before"] + joined)
        }

        @Test("declining notifies the members and the person's own devices, and no other person")
        func declines() async throws {
            let group = try await nodes.a.client.thread("group", by: ann, with: [bob], invite: true)
            let cursors = (try await nodes.a.client.cursor(of: ann), try await nodes.b.client.cursor(of: bob))
            #expect(try await nodes.b.client.delete("/v1/threads/\(group)/members/me", as: bob).status == 204)
            _ = try await nodes.a.client.sent("without Bob", in: group, as: ann)
            try await expectTold(bob, from: cursors.1, of: group, ["member.updated left"])
            try await expectTold(
                ann, from: cursors.0, of: group, ["member.updated left", "message.created without Bob"])
            #expect(try await nodes.b.client.get("/v1/threads/\(group)", as: bob).status == 404)
        }

        @Test("a new title reaches members with its system message, and invited people without")
        func renames() async throws {
            let cleo = try await nodes.b.client.register("Cleo")
            let group = try await nodes.a.client.thread("group", by: ann, with: [bob])
            let path = "/v1/threads/\(group)"
            #expect(
                try await nodes.a.client.put(path + "/members/\(cleo.id)", ["status": "invited"], as: ann).status == 200
            )
            let cursors = (try await nodes.b.client.cursor(of: bob), try await nodes.b.client.cursor(of: cleo))
            async let poll = nodes.b.client.syncUntilTold(bob, from: cursors.0, wait: 25)
            try await nodes.b.waitForPolls()
            #expect(try await nodes.a.client.call("PATCH", path, ["title": "New"], as: ann).status == 200)
            let first = try #require(try await poll.told.first)
            #expect(first["type"] == "thread.updated" && first["data"]["title"] == "New")
            try await expectTold(bob, from: cursors.0, of: group, ["thread.updated", "message.created renamed"])
            try await expectTold(cleo, from: cursors.1, of: group, ["thread.updated"])
            for node in [nodes.a, nodes.b] {
                #expect(try await node.client.get("/v1/inbox", as: cleo).json["threads"][0]["title"] == "New")
            }
        }

        @Test("settings reach the person's own devices on every node, and no other person")
        func settings() async throws {
            let group = try await nodes.a.client.thread("group", by: ann, with: [bob])
            for text in ["one", "two"] { _ = try await nodes.a.client.sent(text, in: group, as: ann) }
            let phone = try await nodes.a.client.logIn(again: bob)
            let cursors = (try await nodes.a.client.cursor(of: ann), try await nodes.a.client.cursor(of: phone))
            async let poll = nodes.a.client.syncUntilTold(phone, from: cursors.1, wait: 25)
            try await nodes.a.waitForPolls()
            let set = try await nodes.b.client.call(
                "PATCH", "/v1/threads/\(group)/settings", ["pinned": true, "hidden_before_seq": 2], as: bob)
            #expect(set.status == 200 && set.json["unread_count"] == 1)
            let event = try #require(try await poll.told.first)
            #expect(event["type"] == "settings.updated" && event["thread_id"].string == group)
            #expect(event["data"] == set.json)
            // Setting the same values again is no change.
            let again = try await nodes.a.client.call(
                "PATCH", "/v1/threads/\(group)/settings", ["pinned": true], as: phone)
            #expect(again.json == set.json)
            try await expectTold(phone, from: cursors.1, of: group, ["settings.updated"])
            try await expectTold(ann, from: cursors.0, of: group, [])
        }
    }
}
