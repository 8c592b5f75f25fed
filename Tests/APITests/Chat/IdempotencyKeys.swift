// The header `Idempotency-Key`: what creates something does it once, and a repeat has the first answer.
import Domain
import TestSupport
import Testing

@Suite("Requests with an Idempotency-Key", .timeLimit(.minutes(1)))
struct IdempotencyKeys {
    private func post(_ client: Client, _ path: String, _ body: String, key: String) async throws -> Reply {
        try await client.send("POST", path, body: body, headers: ["Idempotency-Key: \(key)"])
    }

    private func makeKey() -> String { "k-\(UserID.make())" }

    private func count(_ sql: String) async throws -> String {
        try await Psql.run(sql, conninfo: TestNode.shared().database)
    }

    @Test("create one thread, and answer with its state then, whatever has happened since")
    func threads() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let title = "T\(UserID.make())"
        let draft = #"{"kind":"group","title":"\#(title)","members":["\#(bob.id)"]}"#
        let key = makeKey()
        let first = try await post(ann.client, "/v1/threads", draft, key: key)
        #expect(first.status == 201 && first.headers["idempotent-replayed"] == nil)
        _ = try await bob.say("hi", in: first.string("id"))
        for _ in 1...3 {
            let again = try await post(ann.client, "/v1/threads", draft, key: key)
            #expect(again.status == 201 && again.body == first.body)
            #expect(again.headers["idempotent-replayed"] == "true")
            #expect(again.headers["content-type"] == "application/json")
        }
        #expect(try await count("select count(*) from threads where title = '\(title)'") == "1")
        // Another caller may use the same key.
        #expect(try await post(bob.client, "/v1/threads", #"{"kind":"group"}"#, key: key).status == 201)
        #expect(try await post(ann.client, "/v1/threads", draft, key: makeKey()).string("id") != first.string("id"))
    }

    @Test("refuse a key of another request, and change nothing")
    func reuse() async throws {
        let ann = try await Person.make("Ann")
        let key = makeKey()
        let title = "T\(UserID.make())"
        _ = try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: key)
        for (path, body) in [
            ("/v1/threads", #"{"kind":"group","title":"\#(title)"}"#), ("/v1/threads", #"{"kind": "group"}"#),
            ("/v1/rooms", #"{"title":"\#(title)"}"#), ("/v1/rooms", #"{"kind":"group"}"#),
        ] {
            let reply = try await post(ann.client, path, body, key: key)
            #expect(reply.status == 422 && reply.problemCode == "idempotency_key_reused", "\(reply.text)")
        }
        #expect(try await count("select count(*) from threads where title = '\(title)'") == "0")
    }

    @Test("keep nothing of a refused request: the key may be used again")
    func refusals() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let key = makeKey()
        let refused = try await post(
            ann.client, "/v1/threads", #"{"kind":"group","members":["\#(UserID.make())"]}"#, key: key)
        #expect(refused.errorFields == ["members"])
        #expect(try await post(ann.client, "/v1/threads", #"{"kind":"x"}"#, key: key).errorFields == ["kind"])
        let thread = try await bob.group()
        let path = "/v1/threads/\(thread)/messages"
        let message = try await post(ann.client, path, #"{"payload":{"text":"a"}}"#, key: key)
        #expect(message.problemCode == "thread_not_found")
        let made = try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: key)
        #expect(made.status == 201 && made.headers["idempotent-replayed"] == nil)
    }

    @Test("send one message with one event, and show it as it is now")
    func messages() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let thread = try await ann.group(with: [bob])
        let path = "/v1/threads/\(thread)/messages"
        let start = try await bob.client.get("/v1/sync").string("cursor")
        let body = #"{"payload":{"text":"hi"},"mentions":["\#(bob.id)"],"expires_in_s":600}"#
        let key = makeKey()
        let first = try await post(ann.client, path, body, key: key)
        #expect(first.status == 201, "\(first.text)")
        #expect(try await ann.client.get("\(path)/\(first.string("id"))").body == first.body)
        let again = try await post(ann.client, path, body, key: key)
        #expect(again.status == 201 && again.body == first.body && again.headers["idempotent-replayed"] == "true")
        #expect(try await bob.eventTypes(since: start) == ["message.created"])
        let own = #"{"id":"\#(MessageID.make())","payload":{"text":"own id"}}"#
        #expect(try await ann.client.post(path, own).status == 201)
        let (second, ownKey) = (makeKey(), makeKey())
        for _ in 1...2 { #expect(try await post(ann.client, path, own, key: ownKey).status == 200) }
        #expect(try await post(ann.client, path, own.replacing("own id", with: "x"), key: second).status == 409)
        _ = try await ann.client.delete("\(path)/\(first.string("id"))")
        let deleted = try await post(ann.client, path, body, key: key)
        #expect(deleted.status == 201 && deleted["payload"] == .null && deleted["deleted_at"]?.string != nil)
        // The content is nowhere else.
        #expect(try await count("select count(*) from idempotency_keys where body like '%own id%'") == "0")
    }

    @Test("do the work of one of many requests at the same time")
    func together() async throws {
        let ann = try await Person.make("Ann")
        let title = "T\(UserID.make())"
        let key = makeKey()
        let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 1...12 {
                group.addTask {
                    let reply = try await post(
                        ann.client, "/v1/threads", #"{"kind":"group","title":"\#(title)"}"#, key: key)
                    #expect(reply.status == 201, "\(reply.text)")
                    return reply.body
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(bodies.count == 1)
        #expect(try await count("select count(*) from threads where title = '\(title)'") == "1")
    }

    @Test("return an existing thread or room again, and the reports and accounts that were created")
    func others() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let direct = #"{"kind":"direct","members":["\#(bob.id)"]}"#
        let existing = try await bob.client.post("/v1/threads", #"{"kind":"direct","members":["\#(ann.id)"]}"#)
        let key = makeKey()
        for replayed in [nil, "true", "true"] {
            let reply = try await post(ann.client, "/v1/threads", direct, key: key)
            #expect(reply.status == 200 && reply.headers["idempotent-replayed"] == replayed)
            #expect(try reply.string("id") == existing.string("id"))
        }
        let other = try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: key)
        #expect(other.problemCode == "idempotency_key_reused")
        let report = #"{"user_id":"\#(bob.id)","reason":"spam"}"#
        let reportKey = makeKey()
        let first = try await post(ann.client, "/v1/reports", report, key: reportKey)
        let again = try await post(ann.client, "/v1/reports", report, key: reportKey)
        #expect(first.status == 201 && again.status == 201 && first.body == again.body)

        let admin = try await Client(token: TestNode.adminToken)
        let (userKey, name) = (makeKey(), "u\(UserID.make().description.suffix(12))")
        let draft = #"{"username":"\#(name)","name":"New"}"#
        let user = try await post(admin, "/v1/admin/users", draft, key: userKey)
        #expect(user.status == 201, "\(user.text)")
        #expect(try await post(admin, "/v1/admin/users", draft, key: userKey).body == user.body)
        #expect(try await admin.delete("/v1/admin/users/\(user.string("id"))").status == 204)
        try await eventually("no kept answer shows the account") {
            _ = try await count("select erasure_sweep(1000)")
            return try await count("select count(*) from idempotency_keys where body like '%\(name)%'") == "0"
        }
    }

    @Test("are checked, refused where an answer has a secret, and ignored where nothing is created")
    func otherCalls() async throws {
        let ann = try await Person.make("Ann")
        for key in ["", " ", "a b", String(repeating: "k", count: 129), "\u{e9}", "a\tb"] {
            let reply = try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: key)
            #expect(reply.status == 422 && reply.errorFields == ["Idempotency-Key"], "\(key): \(reply.text)")
        }
        let longest = String(repeating: "~", count: 128)
        #expect(try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: longest).status == 201)
        let admin = try await Client(token: TestNode.adminToken)
        let nobody = try await Client()
        for (client, path) in [
            (nobody, "/v1/auth/login"), (nobody, "/v1/auth/register"), (ann.client, "/v1/attachments?name=a"),
            (ann.client, "/v1/attachments/\(AttachmentID.make())/link"), (admin, "/v1/admin/webhooks"),
            (admin, "/v1/admin/hooks"), (admin, "/v1/admin/commands"), (admin, "/v1/admin/users/\(ann.id)/sessions"),
        ] {
            let reply = try await post(client, path, "{}", key: "k")
            #expect(reply.status == 422 && reply.problemCode == "idempotency_key_unsupported", "\(path): \(reply.text)")
        }
        #expect(try await post(ann.client, "/v1/receipts", #"{"receipts":[]}"#, key: "").status != 500)
        #expect(try await post(ann.client, "/v1/threads", #"{"kind":"group"}"#, key: "k").status == 201)
        let me = try await ann.client.send(
            "PATCH", "/v1/users/me", body: #"{"name":"Anna"}"#, headers: ["Idempotency-Key: k"])
        #expect(me.status == 200 && me.headers["idempotent-replayed"] == nil)
    }
}
