// Two people chat over two nodes and one database.

import TestSupport
import Testing

extension SystemTests {
    @Suite("Two people on two nodes", .timeLimit(.minutes(3)))
    struct Chatting: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        @Test("a waiting poll on one node answers to a send on the other")
        func wakes() async throws {
            let cursor = try await nodes.b.client.cursor(of: bob)
            async let poll = nodes.b.client.sync(bob, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            let sent = try await nodes.a.client.say("hi", in: thread, as: ann)
            let answer = try await poll
            #expect(sent.status == 201)
            #expect(answer.status == 200)
            let events = answer.json["events"].items
            #expect(events.map { $0["type"] } == ["message.created"])
            #expect(events.first?["thread_id"].string == thread)
            #expect(events.first?["data"] == sent.json)
            #expect(answer.json["more"] == false)
        }

        @Test("both people find the same direct thread")
        func onePerPair() async throws {
            let again = try await nodes.b.client.post(
                "/v1/threads", ["kind": "direct", "members": [.string(ann.id)]], as: bob)
            #expect(again.status == 200)
            #expect(again.json["id"].string == thread)
            #expect(again.json["peer"]["id"].string == ann.id)
        }

        @Test("inbox, history, unread counts and receipts agree on both nodes")
        func agree() async throws {
            var ids: [String] = []
            for text in ["one", "two", "three"] { ids.append(try await nodes.a.client.sent(text, in: thread, as: ann)) }
            for node in [nodes.a, nodes.b] {
                let inbox = try await node.client.get("/v1/inbox", as: bob).json
                let entry = inbox["threads"][0]
                #expect(entry["id"].string == thread)
                #expect(entry["unread_count"] == 3 && inbox["unread_total"] == 3 && entry["head"] == 3)
                #expect(entry["last_message"]["id"].string == ids[2])
                #expect(entry["peer"]["id"].string == ann.id)
                let history = try await node.client.history(of: thread, as: bob)
                #expect(history.map { $0["id"].string } == ids)
                #expect(history.map { $0["seq"].int } == [1, 2, 3])
                #expect(history.map { $0["payload"]["text"] } == ["one", "two", "three"])
            }

            let cursor = try await nodes.a.client.cursor(of: ann)
            #expect(try await nodes.b.client.put("/v1/threads/\(thread)/receipts", ["read": 2], as: bob).status == 204)
            for node in [nodes.a, nodes.b] {
                let inbox = try await node.client.get("/v1/inbox?unread=true", as: bob).json
                #expect(inbox["threads"][0]["unread_count"] == 1 && inbox["unread_total"] == 1)
                #expect(inbox["threads"][0]["me"]["read_seq"] == 2)
                let readers = try await node.client.get("/v1/threads/\(thread)/messages/\(ids[1])/receipts", as: ann)
                    .json
                #expect(readers["receipts"].items.map { $0["user"]["id"].string } == [bob.id])
                #expect(readers["receipts"][0]["read_at"].string != nil)
            }
            let events = try await nodes.a.client.sync(ann, from: cursor, wait: 10).json["events"].items
            #expect(events.contains { $0["type"] == "receipt.updated" && $0["data"]["read_seq"] == 2 })
            // A mark never moves back, and sending a message reads all.
            #expect(try await nodes.a.client.put("/v1/threads/\(thread)/receipts", ["read": 1], as: bob).status == 204)
            #expect(try await nodes.b.client.get("/v1/inbox", as: bob).json["unread_total"] == 1)
            #expect(try await nodes.b.client.say("four", in: thread, as: bob).status == 201)
            #expect(try await nodes.a.client.get("/v1/inbox", as: bob).json["unread_total"] == 0)
            #expect(try await nodes.a.client.get("/v1/inbox", as: ann).json["unread_total"] == 1)
        }

        @Test("a deleted message leaves its tombstone on both nodes, and no unread count")
        func tombstone() async throws {
            let id = try await nodes.a.client.sent("oops", in: thread, as: ann)
            let cursor = try await nodes.b.client.cursor(of: bob)
            let path = "/v1/threads/\(thread)/messages/\(id)"
            #expect(try await nodes.a.client.delete(path + "?for=everyone", as: ann).status == 204)
            let events = try await nodes.b.client.syncUntilTold(bob, from: cursor, wait: 10).told
            #expect(events.map { $0["type"] } == ["message.deleted"])
            for node in [nodes.a, nodes.b] {
                let message = try await node.client.get(path, as: bob).json
                #expect(message["seq"] == 1 && message["payload"] == .null && message["deleted_at"].string != nil)
                #expect(try await node.client.get("/v1/inbox", as: bob).json["unread_total"] == 0)
            }
        }

        @Test("signing out on one node invalidates the token on the other")
        func logout() async throws {
            let connection = Connection(nodes.b.address)
            #expect(try await connection.get("/v1/users/me", as: ann).status == 200)
            #expect(try await nodes.a.client.call("POST", "/v1/auth/logout", as: ann).status == 204)
            try await eventually("the token to be refused") {
                try await connection.get("/v1/users/me", as: ann).status == 401
            }
            #expect(try await connection.get("/v1/sync", as: ann).status == 401)
        }

        @Test("signing a device out ends its waiting poll and no other device's")
        func signOutDevice() async throws {
            let credentials: JSON = [
                "username": .string(bob.username), "password": .string(bob.password), "device_name": "phone",
            ]
            let login = try await nodes.a.client.post("/v1/auth/login", credentials)
            #expect(login.status == 200 && login.json["session"]["device_name"] == "phone")
            let phone = Person(
                id: bob.id, username: bob.username, password: bob.password,
                session: login.json["session"]["id"].string ?? "", token: login.json["session"]["token"].string ?? "")
            let cursor = try await nodes.b.client.cursor(of: phone)
            async let poll = nodes.b.client.sync(phone, from: cursor, wait: 25)
            try await nodes.b.waitForPolls()
            #expect(try await nodes.a.client.delete("/v1/sessions/\(phone.session)", as: bob).status == 204)
            // The poll ends with the event or with 401; it does not keep waiting.
            let answer = try await poll
            #expect(answer.status == 401 || answer.json["events"][0]["type"] == "session.revoked", "\(answer)")
            let sessions = try await nodes.b.client.get("/v1/sessions", as: bob).json["sessions"].items
            #expect(sessions.map { $0["id"].string } == [bob.session])
            #expect(sessions.first?["token"] == .null)
        }
    }
}
