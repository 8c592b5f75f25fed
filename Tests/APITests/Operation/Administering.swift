// /v1/admin, for operators.
import Credentials
import Domain
import TestSupport
import Testing

@Suite("Administering", .timeLimit(.minutes(1)))
struct Administering {
    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    /// The recorded actions on a user, the oldest first.
    private static func actions(of user: String) async throws -> [String?] {
        let entries = try await admin().get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        return entries.filter { $0["user_id"]?.string == user }.reversed().map { $0["action"]?.string }
    }

    @Test("accepts only the admin token, which is not a session token")
    func takesItsToken() async throws {
        let ann = try await Person.make("Ann")
        let path = "/v1/admin/stats"
        #expect(try await Self.admin().get(path).status == 200)
        #expect(try await Client().get(path).problemCode == "unauthenticated")
        for token in [
            ann.client.token ?? "", "x", TestNode.adminToken + "x", String(TestNode.adminToken.dropLast()),
        ] {
            let reply = try await Client(token: token).get(path)
            #expect(reply.problemCode == "invalid_token" && reply.headers["www-authenticate"] != nil)
        }
        #expect(try await Self.admin().get("/v1/users/me").problemCode == "invalid_token")
        // The token is checked before the parameters.
        #expect(try await Client().get(path + "?x=1").status == 401)
        #expect(try await Self.admin().get(path + "?x=1").status == 422)
    }

    @Test("compares tokens in constant time, and prints none")
    func comparesTokens() {
        let token = AdminToken("0123456789abcdef")
        #expect(token.matches("0123456789abcdef"))
        for guess in ["", "0123456789abcde", "0123456789abcdef0", "1123456789abcdef", "0123456789abcdeF"] {
            #expect(!token.matches(guess))
        }
        #expect(!"\(token)\(String(reflecting: token))".contains("0123"))
    }

    @Test("creates accounts, finds them, and issues sessions for them")
    func makesAccounts() async throws {
        let admin = try await Self.admin()
        let username = "a.\(UserID.make().description.suffix(12))"
        let body = #"{"username":"\#(username)","password":"long enough","name":"Zoë"}"#
        let made = try await admin.post("/v1/admin/users", body)
        #expect(made.status == 201 && made["has_password"] == .bool(true) && made["session_count"]?.integer == 0)
        let id = try made.string("id")
        #expect(try await admin.post("/v1/admin/users", body).problemCode == "username_taken")
        let login = try await Client().post(
            "/v1/auth/login", #"{"username":"\#(username)","password":"long enough"}"#)
        #expect(login.status == 200)
        let session = try await admin.post("/v1/admin/users/\(id)/sessions", #"{"device_name":"support"}"#)
        #expect(session.status == 201 && session["session.device_name"] == .string("support"))
        let client = try await Client(token: session.string("session.token"))
        #expect(try await client.get("/v1/users/me").string("id") == id)
        let found = try await admin.get("/v1/admin/users?username=\(username.uppercased())")["users"]?.array ?? []
        #expect(found.map { $0["id"]?.string } == [id] && found.first?["session_count"]?.integer == 2)
        #expect(try await admin.get("/v1/admin/users?limit=1")["users"]?.array?.count == 1)
        #expect(try await Self.actions(of: id) == ["user.create", "session.create"])
        let nameless = try await admin.post("/v1/admin/users", #"{"password":"long enough","name":"x"}"#)
        #expect(nameless.errorFields == ["username"])
        #expect(try await admin.post("/v1/admin/users", #"{"name":"Bot"}"#)["username"] == .null)
        for path in ["", "/sessions"] {
            let user = "/v1/admin/users/\(UserID.make())\(path)"
            let reply = try await path.isEmpty ? admin.get(user) : admin.post(user)
            #expect(reply.problemCode == "user_not_found")
        }
    }

    @Test("suspends: sessions end and none can begin until the suspension is lifted")
    func suspends() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let path = "/v1/admin/users/\(ann.id)"
        for _ in 0..<2 { #expect(try await admin.put(path + "/suspension").status == 204) }
        #expect(try await ann.client.get("/v1/users/me").status == 401)
        func logIn(_ password: String) async throws -> Reply {
            try await Client().post(
                "/v1/auth/login", #"{"username":"\#(ann.username)","password":"\#(password)"}"#)
        }
        #expect(try await logIn("long enough").problemCode == "account_suspended")
        // A caller with a wrong password gets no hint.
        #expect(try await logIn("wrong enough").problemCode == "wrong_credentials")
        #expect(try await admin.post(path + "/sessions").problemCode == "account_suspended")
        #expect(try await admin.get(path)["suspended_at"]?.string != nil)
        for _ in 0..<2 { #expect(try await admin.delete(path + "/suspension").status == 204) }
        #expect(try await logIn("long enough").status == 200)
        #expect(try await Self.actions(of: ann.id) == ["user.suspend", "user.unsuspend"])
        let nobody = "/v1/admin/users/\(UserID.make())/suspension"
        #expect(try await admin.put(nobody).problemCode == "user_not_found")
    }

    @Test("erases an account, which is then listed as erased")
    func erases() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let path = "/v1/admin/users/\(ann.id)"
        #expect(try await admin.delete(path + "?messages=some").status == 422)
        #expect(try await admin.delete(path).status == 204)
        #expect(try await admin.delete(path).problemCode == "user_not_found")
        #expect(try await ann.client.get("/v1/users/me").status == 401)
        let erased = try await admin.get(path)
        #expect(erased["name"] == .string("Deleted user") && erased["erased_at"]?.string != nil)
        for reply in [
            try await admin.post(path + "/sessions"), try await admin.put(path + "/suspension"),
        ] {
            #expect(reply.problemCode == "user_not_found")
        }
        #expect(try await Self.actions(of: ann.id) == ["user.erase"])
    }

    @Test("removes a message for everyone, and returns a thread without its messages")
    func removesMessages() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let thread = try await ann.group(title: "Secret")
        let message = try await ann.say("hello", in: thread).string("id")
        let path = "/v1/admin/threads/\(thread)"
        let shown = try await admin.get(path)
        #expect(shown["owners"] == .array([.string(ann.id)]) && shown["head"]?.integer == 1)
        #expect(!shown.text.contains("hello"))
        for _ in 0..<2 { #expect(try await admin.delete("\(path)/messages/\(message)").status == 204) }
        let tombstone = try await ann.client.get("/v1/threads/\(thread)/messages/\(message)")
        #expect(tombstone["payload"] == .null && tombstone["deleted_at"]?.string != nil)
        #expect(try await Self.actions(of: ann.id) == ["message.delete"])
        #expect(try await admin.delete("\(path)/messages/\(MessageID.make())").problemCode == "message_not_found")
        #expect(try await admin.get("/v1/admin/threads/\(ThreadID.make())").problemCode == "thread_not_found")
    }

    @Test("records actor, action, target and request id, the latest first, in pages")
    func notes() async throws {
        let admin = try await Self.admin()
        let ann = try await Person.make("Ann")
        let suspended = try await admin.send(
            "PUT", "/v1/admin/users/\(ann.id)/suspension", headers: ["Parley-Actor: Kim"])
        #expect(suspended.status == 204)
        let entry = try await admin.get("/v1/admin/audit?limit=1")
        #expect(entry["entries.0.actor"] == .string("Kim") && entry["entries.0.user_id"] == .string(ann.id))
        #expect(entry["entries.0.request_id"]?.string == suspended.headers["x-request-id"])
        let next = try await admin.get("/v1/admin/audit?limit=1&page=\(entry.string("next"))")
        #expect(try next.string("entries.0.id") < entry.string("entries.0.id"))
        let long = String(repeating: "x", count: 129)
        #expect(
            try await admin.send("GET", "/v1/admin/audit", headers: ["Parley-Actor: \(long)"]).errorFields
                == ["Parley-Actor"])
    }
}
