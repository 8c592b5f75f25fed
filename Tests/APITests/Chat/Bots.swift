// Accounts for programs.
import Domain
import TestSupport
import Testing

@Suite("Bots", .timeLimit(.minutes(1)))
struct Bots {
    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    private static func bot(_ name: String = "Reminder") async throws -> Person {
        let made = try await admin().post("/v1/admin/users", #"{"name":"\#(name)","kind":"bot"}"#)
        #expect(made.status == 201 && made["kind"] == .string("bot"), "\(made.text)")
        let id = try made.string("id")
        let session = try await admin().post("/v1/admin/users/\(id)/sessions")
        return Person(client: try await Client(token: session.string("session.token")), id: id, username: "")
    }

    private func sql(_ statement: String) async throws -> String {
        try await Psql.run(statement, conninfo: TestNode.shared().database)
    }

    @Test("are created by the operator, have no password, and are shown as bots")
    func creates() async throws {
        let admin = try await Self.admin()
        let bot = try await Self.bot("Robo")
        let ann = try await Person.make("Ann")
        for reply in [
            try await admin.get("/v1/admin/users/\(bot.id)"), try await bot.client.get("/v1/users/me"),
            try await ann.client.get("/v1/users/\(bot.id)"),
        ] {
            #expect(reply["kind"] == .string("bot"), "\(reply.text)")
        }
        #expect(try await ann.client.get("/v1/users/\(ann.id)")["kind"] == nil)
        #expect(try await admin.get("/v1/admin/users/\(ann.id)")["kind"] == .string("person"))
        #expect(try await admin.post("/v1/admin/users", #"{"name":"A","kind":"person"}"#)["kind"] == .string("person"))
        let refused = try await admin.post(
            "/v1/admin/users",
            #"{"name":"A","kind":"bot","username":"b.\#(bot.id.suffix(12))","password":"long enough"}"#)
        #expect(refused.errorFields == ["password"])
        #expect(try await admin.post("/v1/admin/users", #"{"name":"A","kind":"robot"}"#).errorFields == ["kind"])
        let change = try await bot.client.put(
            "/v1/users/me/password", #"{"current":"long enough","new":"longer enough"}"#)
        #expect(change.problemCode == "no_password")
        #expect(try await bot.client.patch("/v1/users/me", #"{"name":"Robo 2"}"#)["kind"] == .string("bot"))
    }

    @Test("have sessions that do not expire, up to the number of an account's, and none ends another")
    func sessions() async throws {
        let bot = try await Self.bot()
        let ann = try await Person.make("Ann")
        for id in [bot.id, ann.id] {
            _ = try await sql("update sessions set last_used_at = now() - interval '400 days' where user_id = '\(id)'")
        }
        let count = try await sql(
            """
            select count(*) from sessions s cross join lateral session_find(s.token_digest, 90)
            where s.user_id in ('\(bot.id)', '\(ann.id)')
            """)
        #expect(count == "1")
        #expect(try await sql("select sum(ended_count) >= 1 from session_sweep(null, 1000000, 90)") == "t")
        #expect(try await sql("select count(*) from sessions where user_id = '\(bot.id)'") == "1")
        #expect(try await sql("select count(*) from sessions where user_id = '\(ann.id)'") == "0")
        _ = try await sql(
            """
            insert into sessions (id, user_id, token_digest, created_at, last_used_at)
            select gen_random_uuid(), '\(bot.id)', sha256(convert_to('\(bot.id)' || n, 'UTF8')), now(), now()
            from generate_series(2, 100) n
            """)
        let refused = try await Self.admin().post("/v1/admin/users/\(bot.id)/sessions")
        #expect(refused.status == 422 && refused.problemCode == "too_many_sessions")
        #expect(try await sql("select count(*) from sessions where user_id = '\(bot.id)'") == "100")
        #expect(try await bot.client.get("/v1/users/me").status == 200)
    }

    @Test("have no unread messages, and put no marks, typing, alerts and presence")
    func isQuiet() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let bot = try await Self.bot()
        let thread = try await ann.group(with: [bob, bot])
        let cursor = try await ann.client.get("/v1/inbox").string("cursor")
        let message = try await ann.client.post(
            "/v1/threads/\(thread)/messages", #"{"payload":{"text":"hi"},"mentions":["\#(bot.id)"]}"#)
        #expect(message.status == 201)
        let inbox = try await bot.client.get("/v1/inbox")
        #expect(inbox["unread_total"]?.integer == 0 && inbox["threads.0.unread_count"]?.integer == 0)
        #expect(inbox["threads.0.mention_count"]?.integer == 0)
        #expect(try await bot.client.get("/v1/inbox?unread=true")["threads"]?.array?.isEmpty == true)
        #expect(try await bob.client.get("/v1/inbox")["unread_total"]?.integer == 1)

        for (method, path, body) in [
            ("PUT", "/v1/threads/\(thread)/receipts", #"{"read":1}"#),
            ("PUT", "/v1/threads/\(thread)/unread", #"{"from":1}"#),
            ("POST", "/v1/receipts", #"{"receipts":[{"thread_id":"\#(thread)","delivered":1}]}"#),
            ("PUT", "/v1/threads/\(thread)/typing", ""),
        ] {
            #expect(try await bot.client.send(method, path, body: body).status == 204, "\(path)")
        }
        // A poll with a cursor says that all before it is delivered, also once the worker has had its time.
        let own = try inbox.string("cursor")
        #expect(try await bot.client.get("/v1/sync?cursor=\(own)&wait=0").status == 200)
        #expect(
            try await sql(
                "select receipt_deliver(array['\(bot.id)']::uuid[], array['\(thread)']::uuid[], array[log_head()])")
                == "")
        let marks = try await sql(
            """
            select read_seq, delivered_seq, (select count(*) from receipt_marks r where r.user_id = m.user_id)
            from members m where user_id = '\(bot.id)' and thread_id = '\(thread)'
            """)
        #expect(marks == "0|0|0")
        let push = try await bot.client.put(
            "/v1/sessions/current/push", #"{"platform":"fcm","token":"\#(bot.id.prefix(20))"}"#)
        #expect(push.status == 403 && push.problemCode == "not_allowed")

        // The bot has sent something after the message, which for a person means that it is read.
        try await bot.say("pong", in: thread)
        try await bob.say("me too", in: thread)
        let id = try message.string("id")
        let receipts = try await ann.client.get("/v1/threads/\(thread)/messages/\(id)/receipts")
        #expect(receipts["receipts"]?.array?.map { $0["user"]?["id"]?.string } == [bob.id])
        let events = try await ann.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"]?.array ?? []
        #expect(events.allSatisfy { $0["type"]?.string != "typing" && $0["type"]?.string != "presence.updated" })
        let members = try await ann.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
        let shown = members.first { $0["user"]?["id"]?.string == bot.id }?["user"]
        #expect(shown?["presence"] == .null && shown?["last_seen_at"] == .null && shown?["kind"] == .string("bot"))
    }

    @Test("delay no content that is kept until it is delivered, unless a device of theirs polls")
    func untilDelivered() async throws {
        let ann = try await Person.make("Ann")
        let made = try await Self.admin().post("/v1/admin/users", #"{"name":"Mute","kind":"bot"}"#)
        let reader = try await Self.bot("Reader")
        func isNeeded(with bot: String) async throws -> String {
            let thread = try await ann.client.post(
                "/v1/threads", #"{"kind":"group","members":["\#(bot)"],"retention":{"keep":"until_delivered"}}"#
            ).string("id")
            try await ann.say("secret", in: thread)
            return try await sql(
                """
                select receipt_deliver(array['\(ann.id)']::uuid[], array['\(thread)']::uuid[], array[log_head()],
                    array(select id from sessions where user_id = '\(ann.id)'));
                select undelivered_is_needed('\(thread)', m.pos, m.seq, m.created_at, now() - interval '30 days')
                from messages m where m.thread_id = '\(thread)' and m.payload is not null
                """
            ).split(separator: "\n").last.map { String($0) } ?? ""
        }
        #expect(try await isNeeded(with: made.string("id")) == "f")
        #expect(try await isNeeded(with: reader.id) == "t")
    }

    @Test("become owner only if nobody else is left")
    func owners() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let bot = try await Self.bot()
        let thread = try await ann.group(with: [bot])
        #expect(try await ann.client.put("/v1/threads/\(thread)/members/\(bob.id)").status == 200)
        _ = try await sql("update members set joined_at = joined_at + interval '1 hour' where user_id = '\(bob.id)'")
        #expect(try await ann.client.delete("/v1/threads/\(thread)/members/me").status == 204)
        #expect(try await bob.client.get("/v1/threads/\(thread)")["me.role"] == .string("owner"))
        #expect(try await bob.client.delete("/v1/threads/\(thread)/members/me").status == 204)
        #expect(try await bot.client.get("/v1/threads/\(thread)")["me.role"] == .string("owner"))
    }
}
