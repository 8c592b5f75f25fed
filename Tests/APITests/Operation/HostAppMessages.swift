// Messages that the host app's server sends, reads, edits and removes.
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Messages of the host app", .timeLimit(.minutes(1)))
struct HostAppMessages {
    private struct Ground {
        let admin: Client
        let ann: Person
        let ben: Person
        let thread: String
        var path: String { "/v1/admin/threads/\(thread)/messages" }

        init() async throws {
            admin = try await Client(token: TestNode.adminToken)
            (ann, ben) = (try await Person.make("Ann"), try await Person.make("Ben"))
            thread = try await ann.group(with: [ben])
        }

        func unread(_ person: Person) async throws -> Int64 {
            try await person.client.get("/v1/threads/\(thread)").integer("unread_count")
        }
    }

    private func post(_ client: Client, _ path: String, _ body: String, key: String) async throws -> Reply {
        try await client.send("POST", path, body: body, headers: ["Idempotency-Key: \(key)"])
    }

    @Test("sends as a user who has joined, once for each id, with the event that the user's own send has")
    func sendsAsUsers() async throws {
        let ground = try await Ground()
        let (admin, ann, ben) = (ground.admin, ground.ann, ground.ben)
        let cursor = try await ben.client.get("/v1/sync").string("cursor")
        let id = MessageID.make()
        let body = #"{"id":"\#(id)","sender":"\#(ann.id)","payload":{"text":"hi"},"mentions":["\#(ben.id)"]}"#
        let sent = try await admin.post(ground.path, body)
        #expect(sent.status == 201 && sent["sender.id"]?.string == ann.id && sent["id"]?.string == "\(id)")
        let again = try await admin.post(ground.path, body)
        #expect(again.status == 200 && again.json == sent.json)
        let other = try await admin.post(ground.path, body.replacingOccurrences(of: "hi", with: "ho"))
        #expect(other.problemCode == "id_taken")
        let events = try await ben.client.get("/v1/sync?cursor=\(cursor)&wait=5")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["message.created"] && events[0]["data"] == sent.json)
        #expect(try await ground.unread(ben) == 1)
        #expect(try await ground.unread(ann) == 0)
        let audit = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let entries = audit.filter { $0["thread_id"]?.string == ground.thread }
        #expect(entries.map { $0["action"]?.string } == ["message.send"])
        #expect(entries.first?["message_id"]?.string == "\(id)" && entries.first?["user_id"]?.string == ann.id)
    }

    @Test("refuses senders who may not send, and bodies that do not say who sends")
    func refuses() async throws {
        let ground = try await Ground()
        let (admin, cid) = (ground.admin, try await Person.make("Cid"))
        func send(_ sender: String, _ more: String = "") async throws -> Reply {
            try await admin.post(ground.path, #"{"sender":\#(sender),"payload":{"text":"x"}\#(more)}"#)
        }
        #expect(try await send("\"\(cid.id)\"").problemCode == "not_a_member")
        #expect(try await send("\"\(cid.id)\"").status == 403)
        #expect(try await admin.post(ground.path, #"{"payload":{"text":"x"}}"#).errorFields == ["sender"])
        for sender in ["\"\(UserID.make())\"", "\"ext:nobody\"", "\"x\"", "7"] {
            #expect(try await send(sender).errorFields == ["sender"], "\(sender)")
        }
        #expect(try await send("\"\(ground.ann.id)\"", #","mentions":["\#(cid.id)"]"#).errorFields == ["mentions"])
        #expect(
            try await send("\"\(ground.ann.id)\"", #","reply_to":"\#(MessageID.make())""#).errorFields == ["reply_to"])
        #expect(try await send("null", #","type":"message""#).errorFields == ["type"])
        #expect(try await send("\"\(ground.ann.id)\"", #","type":"system""#).errorFields == ["type"])
        #expect(try await admin.put("/v1/admin/users/\(ground.ben.id)/suspension").status == 204)
        #expect(try await send("\"\(ground.ben.id)\"").errorFields == ["sender"])
        #expect(try await admin.delete("/v1/admin/users/\(ground.ben.id)").status == 204)
        #expect(try await send("\"\(ground.ben.id)\"").errorFields == ["sender"])
        let nothing = try await admin.post(
            "/v1/admin/threads/ext:none/messages", #"{"sender":null,"payload":{"text":"x"}}"#)
        #expect(nothing.problemCode == "thread_not_found")
    }

    @Test("a message of the server has no sender and the app's own payload, and counts as unread")
    func sendsAsServer() async throws {
        let ground = try await Ground()
        let (admin, ben) = (ground.admin, ground.ben)
        let cursor = try await ben.client.get("/v1/sync").string("cursor")
        let id = MessageID.make()
        let body = #"{"id":"\#(id)","sender":null,"payload":{"text":"Sent","order":42},"mentions":["\#(ben.id)"]}"#
        let sent = try await admin.post(ground.path, body)
        #expect(sent.status == 201 && sent["type"] == .string("system") && sent["sender"] == .null, "\(sent.text)")
        #expect(sent["payload.order"]?.integer == 42)
        #expect(try await admin.post(ground.path, body).status == 200)
        #expect(
            try await admin.post(ground.path, body.replacingOccurrences(of: ":42}", with: ":43}")).problemCode
                == "id_taken"
        )
        #expect(try await ground.unread(ground.ann) == 1)
        #expect(try await ground.unread(ben) == 1)
        #expect(try await ben.client.get("/v1/inbox").integer("unread_total") == 1)
        #expect(try await ben.client.get("/v1/threads/\(ground.thread)").integer("mention_count") == 1)
        let events = try await ben.client.get("/v1/sync?cursor=\(cursor)&wait=5")["events"]?.array ?? []
        #expect(events.first?["data"] == sent.json)
        // Edited and removed as any other; the counts follow.
        let one = "\(ground.path)/\(id)"
        #expect(
            try await admin.patch(one, #"{"payload":{"text":"Delivered"}}"#)["payload.text"] == .string("Delivered"))
        #expect(try await admin.delete(one).status == 204)
        #expect(try await ground.unread(ben) == 0)
        let clash = try await admin.post(ground.path, #"{"sender":null,"payload":{"action":"joined","by":{}}}"#)
        #expect(clash.errorFields == ["payload"])
    }

    @Test("a silent message alerts nobody, and a message of the server alerts as a person's does")
    func alerts() async throws {
        let ground = try await Ground()
        let bodies = [
            (#"{"sender":"\#(ground.ann.id)","payload":{"text":"1"},"silent":true}"#, "0"),
            (#"{"sender":"\#(ground.ann.id)","payload":{"text":"2"}}"#, "seq"),
            (#"{"sender":null,"payload":{"text":"3"},"silent":true}"#, "0"),
            (#"{"sender":null,"payload":{"text":"4"}}"#, "seq"),
        ]
        for (body, wanted) in bodies {
            let seq = try await ground.admin.post(ground.path, body).integer("seq")
            let effect = try await Psql.run(
                """
                select f.seq from events e cross join lateral push_effect(e.type, e.thread_id, e.user_id, null, e.seq,
                    e.actor_id, e.is_silent) f
                where e.thread_id = '\(ground.thread)' and e.seq = \(seq) and e.type = 'message.created'
                """, conninfo: try await TestNode.shared().database)
            #expect(effect == (wanted == "seq" ? "\(seq)" : wanted), "\(body)")
        }
    }

    @Test("reads the history, edits any message but the service's own, and changes nothing else")
    func readsAndEdits() async throws {
        let ground = try await Ground()
        let (admin, ann) = (ground.admin, ground.ann)
        let id = try await ann.say("one", in: ground.thread).string("id")
        _ = try await ann.say("two", in: ground.thread)
        #expect(try await ann.client.patch("/v1/threads/\(ground.thread)", #"{"title":"New"}"#).status == 200)
        let page = try await admin.get(ground.path + "?limit=2")
        #expect(page["messages"]?.array?.count == 2 && page["head"]?.integer == 3 && page["end"] == .bool(false))
        let first = try await admin.get(ground.path + "?before=3&limit=1")
        #expect(first["messages.0.payload.text"] == .string("two"))
        let edited = try await admin.patch("\(ground.path)/\(id)", #"{"payload":{"text":"1"}}"#)
        #expect(edited.status == 200 && edited["payload.text"] == .string("1") && edited["edited_at"]?.string != nil)
        #expect(edited["sender.id"]?.string == ann.id)
        #expect(try await admin.get("\(ground.path)/\(id)").json == edited.json)
        let notice = try page.string("messages.1.id")
        #expect(try await admin.patch("\(ground.path)/\(notice)", #"{"payload":{}}"#).problemCode == "not_allowed")
        #expect(try await admin.patch("\(ground.path)/\(id)", #"{"payload":{"text":7}}"#).status == 422)
        #expect(try await admin.delete("\(ground.path)/\(id)").status == 204)
        #expect(
            try await admin.patch("\(ground.path)/\(id)", #"{"payload":{"text":"x"}}"#).problemCode == "message_deleted"
        )
        #expect(try await admin.get("\(ground.path)/\(MessageID.make())").problemCode == "message_not_found")
    }

    @Test("returns a thread to the archive's owner when the server speaks, and leaves it there for a silent message")
    func unarchives() async throws {
        let ground = try await Ground()
        let (admin, ben) = (ground.admin, ground.ben)
        func archive() async throws {
            _ = try await ben.client.patch("/v1/threads/\(ground.thread)/settings", #"{"archived":true}"#)
        }
        func isArchived() async throws -> Bool? {
            try await ben.client.get("/v1/threads/\(ground.thread)")["me.archived"]?.bool
        }
        for sender in ["null", "\"\(ground.ann.id)\""] {
            try await archive()
            let silent = #"{"sender":\#(sender),"payload":{"text":"psst"},"silent":true}"#
            #expect(try await admin.post(ground.path, silent).status == 201)
            #expect(try await isArchived() == true)
            #expect(
                try await admin.post(ground.path, #"{"sender":\#(sender),"payload":{"text":"hi"}}"#).status == 201)
            #expect(try await isArchived() == false)
        }
    }

    @Test("does once what is repeated under one Idempotency-Key: a message as a user, one of the server, a thread")
    func repeats() async throws {
        let ground = try await Ground()
        let admin = ground.admin
        for (path, body) in [
            (ground.path, #"{"sender":"\#(ground.ann.id)","payload":{"text":"hi"}}"#),
            (ground.path, #"{"sender":null,"payload":{"note":"sent"}}"#),
            ("/v1/admin/threads", #"{"kind":"group","members":[{"user":"\#(ground.ann.id)"}]}"#),
        ] {
            let key = "k-\(UserID.make())"
            let first = try await post(admin, path, body, key: key)
            #expect(first.status == 201 && first.headers["idempotent-replayed"] == nil, "\(first.text)")
            let again = try await post(admin, path, body, key: key)
            #expect(again.status == 201 && again.json == first.json, "\(again.text)")
            #expect(again.headers["idempotent-replayed"] == "true")
            #expect(
                try await post(admin, path, body.replacingOccurrences(of: "}", with: " }"), key: key).problemCode
                    == "idempotency_key_reused")
        }
        #expect(try await ground.unread(ground.ben) == 2)
        // A refused message keeps nothing, so its key may be used again.
        let key = "k-\(UserID.make())"
        let refused = #"{"sender":null,"payload":{"a":1},"reply_to":"\#(MessageID.make())"}"#
        #expect(try await post(admin, ground.path, refused, key: key).status == 422)
        #expect(try await post(admin, ground.path, #"{"sender":null,"payload":{"a":1}}"#, key: key).status == 201)
    }
}
