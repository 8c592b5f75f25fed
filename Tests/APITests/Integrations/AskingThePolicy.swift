// The operator's policy: asked before messages and edits are accepted.
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Asking the policy", .timeLimit(.minutes(1)))
struct AskingThePolicy {
    private let stage: PolicyStage
    private let ann: Person
    private let bob: Person
    private let thread: String

    init() async throws {
        stage = try await PolicyStage.shared()
        (ann, bob, thread) = try await stage.people()
    }

    @Test("says who sends what where")
    func question() async throws {
        let first = PolicyStage.newID()
        #expect(try await ann.client.say("first", in: thread, id: first).status == 201)
        let sent = try await ann.client.say(
            "hello there", in: thread, more: #","reply_to":"\#(first)","mentions":["\#(bob.id)"]"#)
        #expect(sent.status == 201)
        let id = try sent.string("id")
        let questions = try stage.policy.questions(about: id)
        #expect(questions.count == 1)
        let question = try JSONReader.read(Array((questions.first ?? "").utf8))
        let sender = question["sender"]
        #expect(sender?["id"] == .string(ann.id) && sender?["kind"] == .string("person"))
        #expect(sender?["username"] == .string(ann.username) && sender?["name"] == .string("Ann"))
        #expect(question["thread"]?["id"] == .string(thread) && question["thread"]?["title"] == .string("Tea"))
        #expect(question["thread"]?["kind"] == .string("group") && question["thread"]?["member_count"]?.integer == 2)
        let message = question["message"]
        #expect(message?["id"] == .string(id) && message?["type"] == .string("message"))
        #expect(message?["payload"]?["text"] == .string("hello there") && message?["edit"] == .bool(false))
        #expect(message?["reply_to"] == .string(first) && message?["mentions"]?.array == [.string(bob.id)])
        #expect(try await bob.client.texts(in: thread) == ["first", "hello there"])
    }

    @Test("denies with the policy's code and detail, the same on each node and after the policy's change of mind")
    func deny() async throws {
        let id = PolicyStage.newID()
        for node in [0, 1, 0] {
            let denied = try await stage.on(node, ann).say("deny this", in: thread, id: id)
            #expect(denied.status == 403 && denied.problemCode == "too_rude")
            #expect(denied["detail"] == .string("Please be polite."))
        }
        #expect(try stage.policy.questions(about: id).count == 1)
        #expect(try await bob.client.texts(in: thread) == [])
        // Another body is another question.
        #expect(try await ann.client.say("please", in: thread, id: id).status == 201)
        #expect(try stage.policy.questions(about: id).count == 2)
    }

    @Test("uses a code of Parley's for a denial without a usable one, and bounds the detail")
    func plainDenials() async throws {
        for word in ["plaindeny", "baddeny"] {
            let denied = try await ann.client.say(word, in: thread)
            #expect(denied.status == 403 && denied.problemCode == "policy_denied", "\(word): \(denied.text)")
            #expect((1...500).contains(try denied.string("detail").count))
        }
    }

    @Test("stores a rewritten payload, and answers each retry with it")
    func rewrite() async throws {
        let id = PolicyStage.newID()
        let sent = try await ann.client.say("rewrite this", in: thread, id: id)
        #expect(sent.status == 201 && sent["payload.text"] == .string("(rewritten) this"))
        for node in [1, 0] {
            let again = try await stage.on(node, ann).say("rewrite this", in: thread, id: id)
            #expect(again.status == 200 && again["payload.text"] == .string("(rewritten) this"))
        }
        // What is stored is another body, and so is anything else.
        for text in ["(rewritten) that", "something else"] {
            #expect(try await ann.client.say(text, in: thread, id: id).problemCode == "id_taken")
        }
        #expect(try stage.policy.questions(about: id).count == 1)
        #expect(try await bob.client.texts(in: thread) == ["(rewritten) this"])
        // A retry without a policy, days later, when the verdict is over.
        #expect(try await stage.sql("select policy_sweep(1000, now() + interval '8 days') > 0") == "t")
        #expect(try await stage.sql("select payload is null from policy_verdicts where message_id = '\(id)'") == "t")
        let without = try await TestNode(on: stage.nodes[0].database)
        let late = try await Client(port: without.port, token: ann.client.token)
            .say("rewrite this", in: thread, id: id)
        #expect(late.status == 200 && late["payload.text"] == .string("(rewritten) this"))
        #expect(try await ann.client.say("rewrite this", in: thread, id: id).status == 200)
        #expect(try stage.policy.questions(about: id).count == 1)
    }

    @Test("asks no more about a stored message, whatever the policy thinks by then")
    func stored() async throws {
        let id = PolicyStage.newID()
        #expect(try await ann.client.say("fine", in: thread, id: id).status == 201)
        _ = try await stage.sql("delete from policy_verdicts where message_id = '\(id)'")
        #expect(try await stage.on(1, ann).say("fine", in: thread, id: id).status == 200)
        #expect(try await bob.client.say("fine", in: thread, id: id).problemCode == "id_taken")
        #expect(try stage.policy.questions(about: id).count == 1)
    }

    @Test("asks about edits: allowed, denied, rewritten, and each body once")
    func edits() async throws {
        let id = PolicyStage.newID()
        #expect(try await ann.client.say("one", in: thread, id: id).status == 201)
        #expect(try await ann.client.edit(id, in: thread, to: "two").status == 200)
        let denied = try await ann.client.edit(id, in: thread, to: "deny three")
        #expect(denied.status == 403 && denied.problemCode == "too_rude")
        #expect(try await stage.on(1, ann).edit(id, in: thread, to: "deny three").problemCode == "too_rude")
        #expect(try await bob.client.texts(in: thread) == ["two"])
        for node in [0, 1] {
            let edited = try await stage.on(node, ann).edit(id, in: thread, to: "rewrite four")
            #expect(edited.status == 200 && edited["payload.text"] == .string("(rewritten) four"))
        }
        let questions = try stage.policy.questions(about: id)
        #expect(questions.count == 4 && questions.dropFirst().allSatisfy { $0.contains(#""edit":true"#) })
        // A message that the caller may not edit is no question.
        #expect(try await bob.client.edit(id, in: thread, to: "mine").problemCode == "not_allowed")
        #expect(try stage.policy.questions(about: id).count == 4)
    }

    @Test("asks about posts to hooks, and about other types, but never about encrypted messages or strangers")
    func paths() async throws {
        let made = try await stage.admin.post("/v1/admin/hooks", #"{"thread_id":"\#(thread)","name":"CI"}"#)
        let path = String(try made.string("url").dropFirst("http://localhost".count))
        let hook = Client(port: stage.nodes[0].port)
        let post = try await hook.post(path, #"{"text":"rewrite build"}"#)
        #expect(post.status == 200 && post["payload.text"] == .string("(rewritten) build"))
        let denied = try await hook.post(path, #"{"text":"deny build"}"#)
        #expect(denied.status == 403 && denied.problemCode == "too_rude")
        #expect(try stage.policy.questions(about: try made.string("user_id")).count == 2)
        let key = ["Idempotency-Key: a"]
        for status in [202, 202] {
            #expect(try await hook.send("POST", path, body: #"{"text":"review build"}"#, headers: key).status == status)
        }
        #expect(try stage.policy.questions(about: "review build").count == 1)

        let place = PolicyStage.newID()
        #expect(
            try await ann.client.post(
                "/v1/threads/\(thread)/messages",
                #"{"id":"\#(place)","type":"location","payload":{"latitude":1,"longitude":2}}"#
            ).status == 201)
        #expect(try stage.policy.questions(about: place).count == 1)
        let secret = PolicyStage.newID()
        let ciphertext = #""type":"encrypted","payload":{"ciphertext":"ZGVueQ=="}"#
        #expect(
            try await ann.client.post("/v1/threads/\(thread)/messages", #"{"id":"\#(secret)",\#(ciphertext)}"#).status
                == 201)
        #expect(
            try await ann.client.patch(
                "/v1/threads/\(thread)/messages/\(secret)", #"{"payload":{"ciphertext":"cmV2aWV3"}}"#
            ).status == 200)
        let cat = try await Person.make("Cat", port: stage.nodes[0].port)
        #expect(try await cat.client.say("deny", in: thread, id: PolicyStage.newID()).problemCode == "thread_not_found")
        #expect(try stage.policy.questions(about: cat.id).isEmpty && stage.policy.questions(about: secret).isEmpty)
    }

    @Test("agrees on one verdict about simultaneous sends of one message")
    func together() async throws {
        let id = PolicyStage.newID()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<16 {
                group.addTask { try await stage.on(number % 2, ann).say("rewrite once", in: thread, id: id).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 201 }.count == 1 && statuses.filter { $0 == 200 }.count == 15, "\(statuses)")
        #expect(try await bob.client.texts(in: thread) == ["(rewritten) once"])
    }

    @Test("answers as many questions at once as messages arrive")
    func many() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { try await ann.client.say("m \(number)", in: thread).status } }
            for try await status in group { #expect(status == 201) }
        }
        #expect(try stage.policy.questions(about: thread).count == 100)
        let metrics = try await Client(port: stage.nodes[0].port).get("/metrics").text
        #expect(metrics.contains("parley_policy_answers_total{action=\"allow\"}"))
        #expect(metrics.contains("parley_policy_paused 0") && metrics.contains("parley_policy_seconds_count"))
    }

    @Test("forgets its verdicts and reviews when the account is erased, and exports reviews")
    func erasing() async throws {
        #expect(try await ann.client.say("rewrite me", in: thread).status == 201)
        let pending = try await ann.client.say("review me", in: thread)
        #expect(pending.status == 202)
        let export = try await ann.client.get("/v1/users/me/export").text
        #expect(export.contains(#"{"type":"review","data":"#) && export.contains("review me"))
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        let rows = try await stage.sql(
            "select (select count(*) from policy_verdicts where sender_id = '\(ann.id)'), "
                + "(select count(*) from reviews where sender_id = '\(ann.id)')")
        #expect(rows == "0|0")
    }
}
