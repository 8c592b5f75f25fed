// Addresses at which other services post messages.
import Domain
import Foundation
import TestSupport
import Testing

@Suite("Incoming hooks", .timeLimit(.minutes(1)))
struct IncomingHooks {
    private let ann: Person
    private let thread: String
    private let admin: Client

    init() async throws {
        ann = try await Person.make("Ann")
        thread = try await ann.group(title: "Operations")
        admin = try await Client(token: TestNode.adminToken)
    }

    private func hook(_ more: String = "", in thread: String? = nil) async throws -> (
        id: String, path: String, bot: String
    ) {
        let made = try await admin.post(
            "/v1/admin/hooks", #"{"thread_id":"\#(thread ?? self.thread)","name":"Grafana"\#(more)}"#)
        #expect(made.status == 201, "\(made.text)")
        let url = try made.string("url")
        #expect(url.hasPrefix("http://localhost/v1/hooks/parleyhook_"))
        return (try made.string("id"), String(url.dropFirst("http://localhost".count)), try made.string("user_id"))
    }

    private func last() async throws -> Reply { try await ann.client.get("/v1/threads/\(thread)/messages?limit=1") }

    @Test("post as a bot of their own, which is a member with their name and image")
    func posts() async throws {
        let cursor = try await ann.client.get("/v1/inbox").string("cursor")
        let hook = try await hook(#","image":"https://a.example/g.png""#)
        let posted = try await Client().post(hook.path, #"{"text":"<!here> hi","unknown":[1]}"#)
        #expect(posted.status == 200 && posted["payload.text"] == .string("@here hi"))
        #expect(posted["sender.name"] == .string("Grafana") && posted["sender.id"] == .string(hook.bot))
        #expect(try await last()["messages.0.id"] == posted["id"])
        let bot = try await ann.client.get("/v1/users/\(hook.bot)")
        #expect(bot["kind"] == .string("bot") && bot["profile_image"] == .string("https://a.example/g.png"))
        let events = try await ann.client.get("/v1/sync?cursor=\(cursor)&wait=0")["events"]?.array ?? []
        #expect(events.map { $0["type"]?.string } == ["member.updated", "message.created", "message.created"])
        #expect(events.first?["data"]?["member_count"]?.integer == 2)
        #expect(events.dropFirst().first?["data"]?["payload"]?["action"] == .string("joined"))
        #expect(
            try await ann.client.get("/v1/users?query=Grafana")["users"]?.array?.contains {
                $0["id"]?.string == hook.bot
            } == false)
    }

    @Test("accept Slack's shape as JSON, as a form, and as JSON with a form's type")
    func shapes() async throws {
        let path = try await hook().path
        let body = #"{"attachments":[{"title":"T","text":"x"},{"fallback":"f"}]}"#
        let form = "a=b&payload=" + percentEncoded(body)
        let formType = "application/x-www-form-urlencoded"
        for (text, type) in [
            (body, "application/json"), (body, "application/json; charset=utf-8"), (form, formType),
            (" \n" + body, formType), (form, formType + "; charset=utf-8"), (body, nil),
        ] as [(String, String?)] {
            let reply = try await Client().send("POST", path + "?x=1", body: text, type: type)
            #expect(reply.status == 200 && reply["payload.text"] == .string("T\nx\nf"), "\(reply.text)")
        }
    }

    @Test("refuse what is no post, and store nothing")
    func refuses() async throws {
        let path = try await hook().path
        let head = try await last().integer("head")
        for (body, type, status) in [
            ("{", "application/json", 400), ("{}", "application/json", 422), ("[]", "application/json", 422),
            (#"{"text":{}}"#, "application/json", 422), ("", "application/json", 400), ("hi", "text/plain", 415),
            ("a=b", "application/x-www-form-urlencoded", 422),
            ("payload=%7B", "application/x-www-form-urlencoded", 400),
            (#"{"text":"\#(String(repeating: "x", count: 16 * 1024 + 1))"}"#, "application/json", 422),
            (#"{"text":"\#(String(repeating: "x", count: 128 * 1024))"}"#, "application/json", 413),
        ] {
            let reply = try await Client().send("POST", path, body: body, type: type)
            #expect(reply.status == status, "\(body.prefix(40)): \(reply.text)")
        }
        let longest = String(repeating: "x", count: 16 * 1024)
        #expect(try await Client().post(path, #"{"text":"\#(longest)"}"#).status == 200)
        #expect(try await last().integer("head") == head + 1)
    }

    @Test("store one message for one Idempotency-Key, and refuse the key for another")
    func repeats() async throws {
        let (path, other) = (try await hook().path, try await hook().path)
        func post(_ path: String, _ key: String, _ text: String) async throws -> Reply {
            try await Client().send("POST", path, body: #"{"text":"\#(text)"}"#, headers: ["Idempotency-Key: \(key)"])
        }
        let first = try await post(path, "build 7", "failed")
        let again = try await post(path, "build 7", "failed")
        #expect(
            first.status == 200 && again.status == 200 && first["id"] == again["id"] && first["seq"] == again["seq"])
        #expect(try await post(path, "build 7", "passed").problemCode == "id_taken")
        #expect(try await post(path, "build 8", "failed")["id"] != first["id"])
        #expect(try await post(other, "build 7", "failed")["id"] != first["id"])
        #expect(try await post(path, String(repeating: "k", count: 255), "long").status == 200)
        #expect(try await post(path, String(repeating: "k", count: 256), "long").errorFields == ["Idempotency-Key"])
    }

    @Test("end when they are revoked, when their bot is removed or erased, and while it is suspended")
    func ends() async throws {
        let text = #"{"text":"hi"}"#
        let revoked = try await hook()
        #expect(try await admin.delete("/v1/admin/hooks/\(revoked.id)").status == 204)
        #expect(try await admin.delete("/v1/admin/hooks/\(revoked.id)").problemCode == "hook_not_found")
        let members = try await ann.client.get("/v1/threads/\(thread)/members")["members"]?.array ?? []
        #expect(members.first { $0["user"]?["id"]?.string == revoked.bot }?["status"] == .string("left"))
        let removed = try await hook()
        #expect(try await ann.client.delete("/v1/threads/\(thread)/members/\(removed.bot)").status == 204)
        let erased = try await hook()
        #expect(try await admin.delete("/v1/admin/users/\(erased.bot)").status == 204)
        let unknown = revoked.path.replacing("parleyhook_", with: "parleyhook-")
        for path in [revoked.path, removed.path, erased.path, unknown, "/v1/hooks/x"] {
            let reply = try await Client().post(path, text)
            #expect(reply.status == 404 && reply.problemCode == "hook_not_found", "\(reply.text)")
        }
        let listed = try await admin.get("/v1/admin/hooks?limit=200")
        let ids = listed["hooks"]?.array?.compactMap { $0["id"]?.string } ?? []
        #expect(ids.contains(removed.id) && !ids.contains(erased.id) && !ids.contains(revoked.id))
        #expect(!listed.text.contains("parleyhook"))
        let suspended = try await hook()
        #expect(try await admin.put("/v1/admin/users/\(suspended.bot)/suspension").status == 204)
        #expect(try await Client().post(suspended.path, text).problemCode == "account_suspended")
        #expect(try await admin.delete("/v1/admin/users/\(suspended.bot)/suspension").status == 204)
        #expect(try await Client().post(suspended.path, text).status == 200)
    }

    @Test("are created for groups and rooms, by administrators, and each act is recorded")
    func administers() async throws {
        let bob = try await Person.make("Bob")
        let direct = try await ann.direct(with: bob)
        func refused(_ body: String) async throws -> Reply { try await admin.post("/v1/admin/hooks", body) }
        #expect(try await refused(#"{"thread_id":"\#(direct)","name":"x"}"#).problemCode == "direct_members_fixed")
        #expect(try await refused(#"{"thread_id":"\#(ThreadID.make())","name":"x"}"#).problemCode == "thread_not_found")
        #expect(
            try await refused(#"{"thread_id":"x","name":"","image":"ftp://x"}"#).errorFields.sorted() == [
                "image", "name", "thread_id",
            ])
        #expect(try await refused(#"{"thread_id":"\#(thread)","name":"x","url":"y"}"#).errorFields == ["url"])
        #expect(try await ann.client.post("/v1/admin/hooks", #"{"thread_id":"\#(thread)","name":"x"}"#).status == 401)
        let room = try await ann.client.post("/v1/rooms", #"{"title":"Room \#(thread.suffix(12))"}"#).string("id")
        let hook = try await hook(in: room)
        let pages = try await admin.get("/v1/admin/hooks?limit=1")
        #expect(pages["hooks.0.id"] == .string(hook.id) && pages["hooks.0.thread_id"] == .string(room))
        #expect(try await admin.get("/v1/admin/hooks?page=x").errorFields == ["page"])
        #expect(try await admin.delete("/v1/admin/hooks/\(hook.id)").status == 204)
        #expect(try await admin.delete("/v1/admin/hooks/x").problemCode == "hook_not_found")
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let actions = entries.filter { $0["user_id"]?.string == hook.bot }.compactMap { $0["action"]?.string }
        #expect(actions == ["hook.delete", "hook.create"] && entries.contains { $0["thread_id"]?.string == room })
    }

    @Test("are stored by digest only")
    func hides() async throws {
        let path = try await hook().path
        let token = String(path.dropFirst("/v1/hooks/".count))
        let found = try await Psql.run(
            "select count(*) from hooks h where h::text like '%\(token.dropFirst(11).prefix(20))%'",
            conninfo: TestNode.shared().database)
        #expect(found == "0")
    }

    @Test("are limited each for itself")
    func limits() async throws {
        let node = try await TestNode { settings in
            settings.rateLimitsEnabled = true
            settings.rateQuotas[.postsToHook] = 3
        }
        let thread = try await Person.make("Ann", port: node.port).group()
        let admin = Client(port: node.port, token: TestNode.adminToken)
        var paths: [String] = []
        for _ in 0..<2 {
            let made = try await admin.post("/v1/admin/hooks", #"{"thread_id":"\#(thread)","name":"H"}"#)
            paths.append(String(try made.string("url").dropFirst("http://localhost".count)))
        }
        let poster = Client(port: node.port)
        func post(_ path: String) async throws -> Reply { try await poster.post(path, #"{"text":"hi"}"#) }
        for _ in 0..<3 { #expect(try await post(paths[0]).status == 200) }
        let refused = try await post(paths[0])
        #expect(refused.status == 429 && refused.problemCode == "rate_limited", "\(refused.text)")
        #expect(refused.headers["ratelimit-policy"] == #""hook-posts";q=3;w=60"#)
        #expect(try await post(paths[1]).status == 200)
    }
}
