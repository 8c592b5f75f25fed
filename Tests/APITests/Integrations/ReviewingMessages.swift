// Messages that the policy sends to review: they wait until a moderator decides.
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Reviewing messages", .timeLimit(.minutes(1)))
struct ReviewingMessages {
    private let stage: PolicyStage
    private let ann: Person
    private let bob: Person
    private let thread: String

    init() async throws {
        stage = try await PolicyStage.shared()
        (ann, bob, thread) = try await stage.people()
    }

    private func decide(_ id: String, _ action: String, more: String = "") async throws -> Reply {
        try await stage.admin.put("/v1/admin/reviews/\(id)", #"{"action":"\#(action)"\#(more)}"#)
    }

    private func listed(_ id: String) async throws -> JSONValue? {
        let list = try await stage.admin.get("/v1/admin/reviews?limit=200")
        return list["reviews"]?.array?.first { $0["id"] == .string(id) }
    }

    @Test("answers 202 to the sender, again and on each node, and shows nothing to others")
    func waits() async throws {
        let id = PolicyStage.newID()
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        for node in [0, 1, 0] {
            let pending = try await stage.on(node, ann).say("review this", in: thread, id: id)
            #expect(pending.status == 202 && pending["state"] == .string("pending") && pending["id"] == .string(id))
            #expect(pending["payload.text"] == .string("review this") && pending["sender.id"] == .string(ann.id))
            #expect(!pending.text.contains("suspicious"))
        }
        #expect(try stage.policy.questions(about: id).count == 1)
        for person in [ann, bob] {
            #expect(try await person.client.texts(in: thread) == [])
            #expect(try await person.client.get("/v1/threads/\(thread)/messages/\(id)").status == 404)
        }
        #expect(try await bob.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"]?.array == [])
        #expect(try await ann.client.say("review that", in: thread, id: id).problemCode == "id_taken")
        #expect(try await bob.client.say("mine", in: thread, id: id).status == 201)
    }

    @Test("appends an approved message, with the time of the approval, once")
    func approves() async throws {
        let id = PolicyStage.newID()
        #expect(try await ann.client.say("review it", in: thread, id: id).status == 202)
        #expect(try await ann.client.say("next", in: thread).status == 201)
        let shown = try await listed(id)
        #expect(shown?["sender"]?["id"] == .string(ann.id) && shown?["payload"]?["text"] == .string("review it"))
        #expect(shown?["code"] == .string("suspicious") && shown?["edit"] == .bool(false))
        #expect(shown?["detail"] == .string("A link of a new account.") && shown?["thread_id"] == .string(thread))
        let cursor = try await bob.client.get("/v1/inbox").string("cursor")
        let approved = try await decide(id, "approve")
        #expect(approved.status == 200 && approved["state"] == .string("approved") && approved["payload"] == .null)
        #expect(try await decide(id, "approve").status == 200)
        #expect(try await decide(id, "refuse").problemCode == "review_decided")
        #expect(try await bob.client.texts(in: thread) == ["next", "review it"])
        let events = try await bob.client.get("/v1/sync?cursor=\(cursor)&wait=5")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["message.created"] && events[0]["data"]?["id"] == .string(id))
        #expect(events[0]["data"]?["timestamp"]?.string ?? "" > shown?["created_at"]?.string ?? "9")
        // The sender's retry is that of a stored message.
        #expect(try await stage.on(1, ann).say("review it", in: thread, id: id).status == 200)
        #expect(try await listed(id) == nil && stage.policy.questions(about: id).count == 1)
        let audit = try await stage.admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let entries = audit.filter { $0["message_id"] == .string(id) }
        #expect(entries.map { $0["action"]?.string } == ["review.approve"])
        #expect(entries.first?["user_id"] == .string(ann.id) && entries.first?["thread_id"] == .string(thread))
    }

    @Test("denies a refused message from then on")
    func refuses() async throws {
        let id = PolicyStage.newID()
        #expect(try await ann.client.say("review no", in: thread, id: id).status == 202)
        let refused = try await decide(id, "refuse")
        #expect(refused.status == 200 && refused["state"] == .string("refused"))
        for node in [0, 1] {
            let denied = try await stage.on(node, ann).say("review no", in: thread, id: id)
            #expect(denied.status == 403 && denied.problemCode == "policy_denied")
        }
        #expect(try await ann.client.texts(in: thread) == [] && stage.policy.questions(about: id).count == 1)
        #expect(try await decide(id, "approve").problemCode == "review_decided")
    }

    @Test("makes an edit under review when it is approved, unless the message was edited or deleted since")
    func edits() async throws {
        let id = PolicyStage.newID()
        #expect(try await ann.client.say("one", in: thread, id: id).status == 201)
        for node in [0, 1] {
            let pending = try await stage.on(node, ann).edit(id, in: thread, to: "review two")
            #expect(
                pending.status == 202 && pending["edit"] == .bool(true)
                    && pending["payload.text"] == .string("review two"))
        }
        #expect(try await ann.client.texts(in: thread) == ["one"])
        #expect(try await decide(id, "approve").status == 200)
        #expect(try await bob.client.texts(in: thread) == ["review two"])
        #expect(try await ann.client.edit(id, in: thread, to: "review two").status == 200)
        // A later edit replaces one under review.
        #expect(try await ann.client.edit(id, in: thread, to: "review three").status == 202)
        #expect(try await ann.client.edit(id, in: thread, to: "review four").status == 202)
        #expect(try await listed(id)?["payload"]?["text"] == .string("review four"))
        let without = try await TestNode(on: stage.nodes[0].database)
        #expect(
            try await Client(port: without.port, token: ann.client.token).edit(id, in: thread, to: "five").status == 200
        )
        #expect(try await decide(id, "approve").problemCode == "review_not_approvable")
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(id)").status == 204)
        #expect(try await listed(id) == nil)
        #expect(try await stage.sql("select count(*) from policy_verdicts where message_id = '\(id)'") == "0")
    }

    @Test("says why a message can no longer be approved")
    func gone() async throws {
        let (left, taken) = (PolicyStage.newID(), PolicyStage.newID())
        #expect(try await bob.client.say("review bye", in: thread, id: left).status == 202)
        #expect(try await bob.client.say("review mine", in: thread, id: taken).status == 202)
        #expect(try await ann.client.say("ours", in: thread, id: taken).status == 201)
        let conflict = try await decide(taken, "approve")
        #expect(conflict.status == 409 && conflict.problemCode == "review_not_approvable")
        #expect(try await bob.client.delete("/v1/threads/\(thread)/members/me").status == 204)
        let gone = try await decide(left, "approve")
        #expect(
            gone.problemCode == "review_not_approvable" && gone.text.contains("not a member of the thread any more"))
        #expect(try await decide(left, "refuse").status == 200)
        #expect(try await ann.client.texts(in: thread) == ["ours"])
        #expect(try await decide(PolicyStage.newID(), "approve").problemCode == "review_not_found")
        #expect(try await decide("x", "approve").problemCode == "review_not_found")
        #expect(try await decide(left, "wait").errorFields == ["action"])
        #expect(try await Client(port: stage.nodes[0].port).get("/v1/admin/reviews").status == 401)
        #expect(try await ann.client.put("/v1/admin/reviews/\(left)", #"{"action":"approve"}"#).status == 401)
    }

    @Test("refuses at once what could never be approved")
    func invalid() async throws {
        let cat = try await Person.make("Cat", port: stage.nodes[0].port)
        for more in [
            #","mentions":["\#(cat.id)"]"#, #","reply_to":"\#(PolicyStage.newID())""#,
        ] { #expect(try await ann.client.say("review x", in: thread, more: more).status == 422, "\(more)") }
        let id = PolicyStage.newID()
        let file = try await ann.client.post(
            "/v1/threads/\(thread)/messages",
            #"{"id":"\#(id)","payload":{"text":"review y","attachments":[{"id":"\#(PolicyStage.newID())"}]}}"#)
        #expect(file.errorFields == ["payload.attachments"])
        #expect(try await stage.sql("select count(*) from policy_verdicts where message_id = '\(id)'") == "0")
    }

    @Test("keeps the files of a message under review, and lets nobody but the owner see them")
    func files() async throws {
        let (file, id) = (AttachmentID.make().description, PolicyStage.newID())
        let path = "/v1/attachments/\(file)"
        #expect(try await ann.client.send("PUT", path + "?name=a.txt", body: "hi", type: "text/plain").status == 201)
        try await eventually("the file is ready") {
            try await ann.client.get(path + "/info")["state"] == .string("ready")
        }
        let body = #"{"id":"\#(id)","payload":{"text":"review file","attachments":[{"id":"\#(file)"}]}}"#
        #expect(try await ann.client.post("/v1/threads/\(thread)/messages", body).status == 202)
        #expect(try await stage.sql("select due_at is null from attachments where id = '\(file)'") == "t")
        #expect(try await ann.client.get(path).status == 200)
        #expect(try await bob.client.get(path).status == 404)
        #expect(try await decide(id, "approve").status == 200)
        #expect(try await bob.client.get(path).status == 200)
        let uses = try await stage.sql("select kind from attachment_uses where attachment_id = '\(file)'")
        #expect(uses == "message")
    }

    /// Uploads a text file of Ann's. Returns its id.
    private func file() async throws -> String {
        let file = AttachmentID.make().description
        let put = try await ann.client.send(
            "PUT", "/v1/attachments/\(file)?name=a.txt", body: "hi", type: "text/plain")
        #expect(put.status == 201, "\(put.text)")
        return file
    }

    private func send(_ file: String, _ text: String, by person: Person, in thread: String) async throws -> (
        id: String, status: Int
    ) {
        let id = PolicyStage.newID()
        let reply = try await person.client.post(
            "/v1/threads/\(thread)/messages",
            #"{"id":"\#(id)","payload":{"text":"\#(text)","attachments":[{"id":"\#(file)"}]}}"#)
        return (id, reply.status)
    }

    @Test("keeps a file that only a message under review has, and no legal hold counts it", arguments: [false, true])
    func lastUse(isForwarded: Bool) async throws {
        let file = try await file()
        let (other, sender) = isForwarded ? (try await bob.group(with: [ann]), bob) : (thread, ann)
        let first = try await send(file, "first", by: ann, in: thread)
        #expect(first.status == 201)
        let second = try await send(file, "review file", by: sender, in: other)
        #expect(second.status == 202)
        #expect(try await ann.client.delete("/v1/threads/\(thread)/messages/\(first.id)").status == 204)
        #expect(try await stage.sql("select files from hold_counts()") == "0")
        #expect(try await stage.sql("select stored_bytes from attachments where id = '\(file)'") == "2")
        // The sender of the message under review sees it, and nobody else.
        #expect(try await sender.client.get("/v1/attachments/\(file)").status == 200)
        let another = isForwarded ? ann : bob
        #expect(try await another.client.get("/v1/attachments/\(file)").status == 404)
        let approved = try await decide(second.id, "approve")
        #expect(approved.status == 200, "\(approved.text)")
        for person in [ann, bob] {
            #expect(try await person.client.get("/v1/attachments/\(file)").text == "hi")
        }
    }

    @Test("lists in pages, the newest first")
    func pages() async throws {
        let ids = [PolicyStage.newID(), PolicyStage.newID(), PolicyStage.newID()]
        for id in ids { #expect(try await ann.client.say("review page", in: thread, id: id).status == 202) }
        var seen: [String] = []
        var path: String? = "/v1/admin/reviews?limit=2"
        while let next = path {
            let page = try await stage.admin.get(next)
            #expect(page.status == 200 && page["limit"]?.integer == 2)
            seen += (page["reviews"]?.array ?? []).compactMap { $0["id"]?.string }
            path = page["next"]?.string.map { "/v1/admin/reviews?limit=2&page=\($0)" }
        }
        #expect(seen.filter { ids.contains($0) } == ids.reversed())
    }

    @Test("asks for the thread if messages with the same id are under review in two threads")
    func sameID() async throws {
        let id = PolicyStage.newID()
        let other = try await ann.group(title: "Other")
        #expect(try await ann.client.say("review a", in: thread, id: id).status == 202)
        #expect(try await ann.client.say("review b", in: other, id: id).status == 202)
        #expect(try await decide(id, "approve").errorFields == ["thread_id"])
        #expect(try await decide(id, "approve", more: #","thread_id":"\#(other)""#)["thread_id"] == .string(other))
        #expect(try await decide(id, "refuse")["thread_id"] == .string(thread))
    }
}
