// /v1/admin/webhooks, without delivering.
import Domain
import TestSupport
import Testing

/// One at a time: some tests count all webhooks of the node.
@Suite("Managing webhooks", .serialized, .timeLimit(.minutes(1)))
struct ManagingWebhooks {
    private static let all = "/v1/admin/webhooks"
    private static let url = "https://hooks.example/parley"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    private static func make(_ body: String = #"{"url":"\#(url)"}"#) async throws -> Reply {
        let made = try await admin().post(all, body)
        try #require(made.status == 201, "\(made.text)")
        return made
    }

    private static func path(_ made: Reply) throws -> String { "\(all)/\(try made.string("id"))" }

    @Test("shows the secret when a webhook is created, and never again")
    func secret() async throws {
        let admin = try await Self.admin()
        let made = try await Self.make()
        let secret = try made.string("secret")
        #expect(secret.wholeMatch(of: /whsec_[A-Za-z0-9+\/]{43}=/) != nil)
        #expect(made["enabled"] == .bool(true) && made["types"] == .null)
        #expect(made["thin"] == .bool(false) && made["ordered"] == .bool(true))
        #expect(made["lost_events"]?.integer == 0 && made["former_secret_until"] == .null)
        let path = try Self.path(made)
        let shown = try await admin.get(path)
        #expect(shown.status == 200 && shown["secret"] == nil && shown["url"] == .string(Self.url))
        let list = try await admin.get(Self.all)
        #expect(try list.string("webhooks.0.id") == made.string("id") && !list.text.contains("whsec_"))
        let rotated = try await admin.post(path + "/rotate")
        #expect(rotated.status == 200 && rotated["former_secret_until"]?.string != nil)
        #expect(try rotated.string("secret") != secret)
        #expect(try await admin.post(path + "/rotate", #"{"x":1}"#).status == 422)
        #expect(try await admin.delete(path).status == 204)
        #expect(try await admin.get(path).problemCode == "webhook_not_found")
    }

    @Test("refuses URLs that may not be called, in any spelling")
    func urls() async throws {
        let admin = try await Self.admin()
        let path = try Self.path(try await Self.make())
        for url in [
            "http://hooks.example/", "https://localhost/", "https://127.0.0.1/", "https://127.1/", "https://0x7f.1/",
            "https://2130706433/", "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://10.1.2.3:8443/x",
            "https://192.168.0.1/", "https://169.254.169.254/latest", "https://u:p@hooks.example/", "ftp://a.example",
            "https://LOCALHOST./", "https://", "x", "https://hooks.example/#f",
        ] {
            let body = #"{"url":"\#(url)"}"#
            #expect(try await admin.post(Self.all, body).errorFields == ["url"], "\(url)")
            #expect(try await admin.patch(path, body).errorFields == ["url"], "\(url)")
        }
        #expect(try await admin.get(path).string("url") == Self.url)
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("refuses unknown fields, wrong types and unknown event types")
    func wrongBodies() async throws {
        let admin = try await Self.admin()
        let path = try Self.path(try await Self.make())
        let cases: [(String, [String])] = [
            ("{}", ["url"]), (#"{"url":"\#(Self.url)","x":1}"#, ["x"]), (#"{"url":7}"#, ["url"]),
            (#"{"url":"\#(Self.url)","types":"message.created"}"#, ["types"]),
            (#"{"url":"\#(Self.url)","types":[]}"#, ["types"]),
            (#"{"url":"\#(Self.url)","types":["message.created","typing"]}"#, ["types[1]"]),
            (#"{"url":"\#(Self.url)","thin":"yes"}"#, ["thin"]), (#"{"url":"\#(Self.url)","ordered":1}"#, ["ordered"]),
        ]
        for (body, fields) in cases {
            #expect(try await admin.post(Self.all, body).errorFields == fields, "\(body)")
        }
        #expect(try await admin.post(Self.all, "{").problemCode == "malformed_json")
        for (body, fields) in [
            (#"{"enabled":null}"#, ["enabled"]), (#"{"thin":true}"#, ["thin"]), (#"{"types":[1]}"#, ["types[0]"]),
        ] {
            #expect(try await admin.patch(path, body).errorFields == fields, "\(body)")
        }
        for (body, fields) in [
            ("{}", ["cursor"]), (#"{"cursor":"x"}"#, ["cursor"]), (#"{"since":"yesterday"}"#, ["since"]),
            (#"{"since":"2026-01-01T00:00:00Z","from":1}"#, ["from"]),
        ] {
            #expect(try await admin.post(path + "/replay", body).errorFields == fields, "\(body)")
        }
        #expect(try await admin.get(path + "/deliveries?state=lost").errorFields == ["state"])
        #expect(try await admin.get(path + "/deliveries?x=1").errorFields == ["x"])
        #expect(try await admin.get(Self.all + "?limit=201").errorFields == ["limit"])
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("changes URL, types and whether it is enabled")
    func changes() async throws {
        let admin = try await Self.admin()
        let made = try await Self.make(#"{"url":"\#(Self.url)","types":["message.created","message.created"]}"#)
        let path = try Self.path(made)
        #expect(made["types"] == .array([.string("message.created")]))
        let changed = try await admin.patch(
            path, #"{"url":"https://other.example/","types":["user.updated"],"enabled":false}"#)
        #expect(changed.status == 200 && changed["url"] == .string("https://other.example/"))
        #expect(changed["types"] == .array([.string("user.updated")]) && changed["enabled"] == .bool(false))
        #expect(changed["disabled_reason"] == .string("admin") && changed["disabled_at"]?.string != nil)
        let enabled = try await admin.patch(path, #"{"types":null,"enabled":true}"#)
        #expect(enabled["types"] == .null && enabled["disabled_at"] == .null && enabled["disabled_reason"] == .null)
        #expect(try await admin.patch(path, "{}").json == enabled.json)
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("answers 404 for unknown webhooks, to the admin token alone")
    func unknown() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        for id in [WebhookID.make().description, "x"] {
            let path = "\(Self.all)/\(id)"
            for reply in [
                try await admin.get(path), try await admin.patch(path, #"{"enabled":true}"#),
                try await admin.delete(path), try await admin.post(path + "/rotate"),
                try await admin.post(path + "/test"),
                try await admin.post(path + "/replay", #"{"since":"2026-01-01T00:00:00Z"}"#),
                try await admin.get(path + "/deliveries?state=pending"), try await admin.get(path + "/deliveries"),
            ] {
                #expect(reply.problemCode == "webhook_not_found", "\(reply.text)")
            }
            #expect(try await ann.client.get(path).problemCode == "invalid_token")
        }
    }

    @Test("has a bound, and pages")
    func bound() async throws {
        try await checkBound(of: Self.all, "webhooks", by: try await Self.admin()) { number in
            #"{"url":"\#(Self.url)"}"#
        }
    }

    @Test("lists what is pending, and moves back by a cursor or a time, never forward")
    func replays() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let thread = try await ann.group(title: "G")
        let before = try await ann.client.get("/v1/sync").string("cursor")
        _ = try await ann.say("one", in: thread)
        let made = try await Self.make(#"{"url":"\#(Self.url)","types":["message.created"]}"#)
        let path = try Self.path(made)
        func pending() async throws -> [String] {
            let list = try await admin.get(path + "/deliveries?state=pending&limit=200")
            return list["deliveries"]?.array?.compactMap { $0["event_id"]?.string } ?? []
        }
        #expect(try await pending() == [])
        _ = try await ann.say("two", in: thread)
        let two = try await pending()
        #expect(two.count == 1 && two[0].wholeMatch(of: /evt_0_[0-9]+_[0-9]+/) != nil)
        let now = try await ann.client.get("/v1/sync").string("cursor")
        #expect(try await admin.post(path + "/replay", #"{"cursor":"\#(now)"}"#).status == 200)
        #expect(try await pending() == two)
        #expect(try await admin.post(path + "/replay", #"{"cursor":"\#(before)"}"#).status == 200)
        let both = try await pending()
        #expect(both.count == 2 && both.last == two[0])
        let page = try await admin.get(path + "/deliveries?state=pending&limit=1")
        let next = try await admin.get(path + "/deliveries?state=pending&limit=1&page=\(page.string("next"))")
        #expect(try [page, next].map { try $0.string("deliveries.0.event_id") } == both)
        #expect(try await admin.post(path + "/replay", #"{"since":"2020-01-01T00:00:00Z"}"#).status == 200)
        #expect(try await pending().count >= 2)
        for state in ["failed", "parked", "delivered"] {
            #expect(try await admin.get(path + "/deliveries?state=\(state)")["deliveries"]?.array?.isEmpty == true)
        }
        #expect(try await admin.delete(path).status == 204)
    }

    @Test("records each change with the webhook's id")
    func audit() async throws {
        let admin = try await Self.admin()
        let made = try await Self.make()
        let path = try Self.path(made)
        _ = try await admin.patch(path, #"{"enabled":false}"#)
        _ = try await admin.patch(path, #"{"enabled":false}"#)
        _ = try await admin.post(path + "/rotate")
        _ = try await admin.post(path + "/replay", #"{"since":"2026-01-01T00:00:00Z"}"#)
        _ = try await admin.delete(path)
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let own = try made.string("id")
        #expect(
            entries.filter { $0["subject"]?.string == own }.reversed().map { $0["action"]?.string } == [
                "webhook.create", "webhook.update", "webhook.rotate", "webhook.replay", "webhook.delete",
            ])
    }
}
