// /v1/admin/keys: keys with scopes. Identity/AccessByToken.swift tries every scope on every call.
import Credentials
import Domain
import NIOCore
import TestSupport
import Testing

@Suite("Managing admin keys", .timeLimit(.minutes(1)))
struct ManagingAdminKeys {
    private static let path = "/v1/admin/keys"

    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    /// Creates a key, with the admin token or with another key.
    private static func key(
        _ scopes: String..., expiresAt: String? = nil, by creator: Client? = nil
    ) async throws -> (id: String, client: Client) {
        let admin = if let creator { creator } else { try await admin() }
        let expiry = expiresAt.map { #","expires_at":"\#($0)""# } ?? ""
        let list = scopes.map { "\"\($0)\"" }.joined(separator: ",")
        let made = try await admin.post(path, #"{"name":"of a test","scopes":[\#(list)]\#(expiry)}"#)
        try #require(made.status == 201, "\(made.text)")
        return (try made.string("id"), Client(port: admin.port, token: try made.string("token")))
    }

    @Test("shows the token once, and stores its digest only")
    func showsTokenOnce() async throws {
        let admin = try await Self.admin()
        let made = try await admin.post(
            Self.path, #"{"name":"Shop","scopes":["users:read","audit"],"expires_at":"2999-01-01T00:00:00Z"}"#)
        #expect(made.status == 201 && made["name"] == .string("Shop"))
        #expect(made["scopes"] == .array([.string("users:read"), .string("audit")]))
        #expect(made["expires_at"] == .string("2999-01-01T00:00:00.000Z") && made["last_used_at"] == .null)
        let token = try made.string("token")
        #expect(token.hasPrefix("parley_key_") && SessionToken(parsing: token) == nil)
        #expect(!"\(try #require(AdminKeyToken(parsing: token)))".contains(token.suffix(48)))
        let list = try await admin.get(Self.path + "?limit=200")
        #expect(try list.text.contains(made.string("id")) && !list.text.contains("parley_key_"))
        let stored = try await Psql.run(
            "select k::text from admin_keys k where id = '\(made.string("id"))'",
            conninfo: try await TestNode.shared().database)
        #expect(stored.contains("Shop") && !stored.contains(token.suffix(40)))
    }

    @Test("refuses names, scopes and times that are none, and changes nothing")
    func refusesMistakes() async throws {
        let admin = try await Self.admin()
        for (body, fields) in [
            ("{}", ["name", "scopes"]), (#"{"name":"x","scopes":[]}"#, ["scopes"]),
            (#"{"name":"","scopes":["keys"]}"#, ["name"]), (#"{"name":"x","scopes":["all"]}"#, ["scopes[0]"]),
            (#"{"name":"x","scopes":["keys","keys"]}"#, ["scopes"]),
            (#"{"name":"x","scopes":["keys"],"expires_at":"2020-01-01T00:00:00Z"}"#, ["expires_at"]),
            (#"{"name":"x","scopes":["keys"],"expires_at":"soon"}"#, ["expires_at"]),
            (#"{"name":"x","scopes":["keys"],"token":"y"}"#, ["token"]),
        ] {
            let reply = try await admin.post(Self.path, body)
            #expect(reply.status == 422 && reply.errorFields == fields, "\(body): \(reply.text)")
        }
        for id in ["x", AdminKeyID.make().description] {
            #expect(try await admin.delete("\(Self.path)/\(id)").problemCode == "key_not_found")
        }
    }

    @Test("a key makes no stronger one, and none that lives longer")
    func makesNoStrongerKey() async throws {
        let weak = try await Self.key("keys", "users:read", expiresAt: "2998-01-01T00:00:00Z")
        let body = #"{"name":"x","scopes":["users:read","export","holds"],"expires_at":"2997-01-01T00:00:00Z"}"#
        let stronger = try await weak.client.post(Self.path, body)
        #expect(stronger.status == 403 && stronger.problemCode == "scope_missing")
        let detail = try stronger.string("detail")
        #expect(detail.contains("`export`") && detail.contains("`holds`") && !detail.contains("users:read"))
        for expiry in ["", #","expires_at":null"#, #","expires_at":"2998-01-01T00:00:00.001Z""#] {
            let longer = try await weak.client.post(Self.path, #"{"name":"x","scopes":["keys"]\#(expiry)}"#)
            #expect(longer.status == 422 && longer.errorFields == ["expires_at"], "\(longer.text)")
        }
        let same = try await Self.key("keys", "users:read", expiresAt: "2998-01-01T00:00:00Z", by: weak.client)
        #expect(try await same.client.get("/v1/admin/users?limit=1").status == 200)
    }

    @Test("a call without its scope is refused before its body is read or anything is looked up")
    func refusesBeforeReading() async throws {
        let key = try await Self.key("users:read")
        let user = "/v1/admin/users/\(UserID.make())"
        let nobody = try await key.client.delete(user)
        #expect(try nobody.problemCode == "scope_missing" && nobody.string("detail").contains("`users:write`"))
        #expect(try await key.client.get(user).problemCode == "user_not_found")
        #expect(try await key.client.get("/v1/admin/audit?x=1").problemCode == "scope_missing")
        // The node knows the key by now. The body never comes.
        let head = [
            "POST /v1/admin/users HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            "Content-Length: 100000", "Authorization: Bearer \(key.client.token ?? "")", "", "",
        ]
        let unread = try await key.client.exchange(ByteBuffer(string: head.joined(separator: "\r\n")))
        #expect(unread.status == 403 && unread.problemCode == "scope_missing")
    }

    @Test("a revoked or expired key is refused on every node, and a waiting reader of changes gets nothing more")
    func revokes() async throws {
        let first = try await TestNode.shared()
        let second = try await TestNode(on: first.database)
        let key = try await Self.key("changes", "keys")
        let elsewhere = Client(port: second.port, token: key.client.token)
        let cursor = try await elsewhere.get("/v1/admin/changes").string("cursor")
        async let waiting = elsewhere.get("/v1/admin/changes?cursor=\(cursor)&wait=20")
        #expect(try await key.client.get("/v1/admin/consumers").status == 200)
        #expect(try await Self.admin().delete("\(Self.path)/\(key.id)").status == 204)
        #expect(try await key.client.get("/v1/admin/consumers").problemCode == "invalid_token")
        let start = ContinuousClock.now
        try await eventually("the other node refuses the key") {
            try await elsewhere.get("/v1/admin/consumers").status == 401
        }
        #expect(ContinuousClock.now - start < .seconds(1))
        // The next event wakes the reader, whose key is gone.
        _ = try await Person.make("Ann")
        let last = try await waiting
        #expect(last.status == 401 && last.problemCode == "invalid_token", "\(last.text)")
        #expect(try await Self.admin().delete("\(Self.path)/\(key.id)").problemCode == "key_not_found")
    }

    @Test("the audit log names the key, and the key's name stands for an actor that is not given")
    func isInTheAuditLog() async throws {
        let key = try await Self.key("users:write", "keys")
        let user = try await key.client.post("/v1/admin/users", #"{"name":"Zoë"}"#).string("id")
        let other = try await Self.key("keys", by: key.client)
        #expect(try await key.client.delete("\(Self.path)/\(other.id)").status == 204)
        let entries = try await Self.admin().get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        func entry(_ action: String, _ subject: String) -> JSONValue? {
            entries.first { entry in
                entry["action"]?.string == action
                    && (entry["user_id"]?.string == subject || entry["subject"]?.string == subject)
            }
        }
        for (action, subject) in [("user.create", user), ("key.create", other.id), ("key.delete", other.id)] {
            let found = try #require(entry(action, subject))
            #expect(found["key_id"]?.string == key.id && found["actor"]?.string == "of a test", "\(action)")
        }
        #expect(entry("key.create", key.id)?["key_id"] == .null)
    }

    @Test("keys open the admin API without an admin token, and several admin tokens open it")
    func worksWithoutAdminToken() async throws {
        let shared = try await TestNode.shared()
        let without = try await TestNode(on: shared.database) { $0.adminTokens = [] }
        let key = try await Self.key("audit")
        let client = Client(port: without.port, token: key.client.token)
        #expect(try await client.get("/v1/admin/stats").status == 200)
        #expect(try await client.get("/v1/admin/users").problemCode == "scope_missing")
        for token in [nil, TestNode.adminToken, try await Person.make("Ann").client.token] {
            let stranger = Client(port: without.port, token: token)
            #expect(try await stranger.get("/v1/admin/stats").problemCode == "not_found")
            #expect(try await stranger.delete("/v1/admin/stats").problemCode == "not_found")
        }
        let both = try await TestNode(on: shared.database) {
            $0.adminTokens = ["the-new-admin-of-the-tests", TestNode.adminToken]
        }
        for token in ["the-new-admin-of-the-tests", TestNode.adminToken] {
            #expect(try await Client(port: both.port, token: token).get("/v1/admin/stats").status == 200)
        }
        #expect(
            try await Client(port: both.port, token: "the-token-of-another-service").get("/v1/admin/stats").status
                == 401)
    }
}
