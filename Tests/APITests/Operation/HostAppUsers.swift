// Accounts under the host app's own ids.
import Domain
import TestSupport
import Testing

@Suite("Users of the host app", .timeLimit(.minutes(1)))
struct HostAppUsers {
    private static func admin() async throws -> Client { try await Client(token: TestNode.adminToken) }

    /// An external id that no other test has, with characters that a path must encode.
    private static func externalID() -> String { "user 4/2+ä-\(UserID.make())" }

    private static func path(_ external: String) -> String {
        "/v1/admin/users/ext:\(percentEncoded(external))"
    }

    @Test("creates the account of an external id once, and changes it afterwards; it is the account of a token")
    func createsOnce() async throws {
        let (admin, external) = (try await Self.admin(), Self.externalID())
        let path = Self.path(external)
        #expect(try await admin.get(path).problemCode == "user_not_found")
        let name = "n.\(UserID.make().description.suffix(12))"
        let body = #"{"name":"Zoë Zimt","username":"\#(name)","profile_image":"https://a.example/z.png"}"#
        var ids: Set<String> = []
        for status in [201, 200, 200] {
            let put = try await admin.put(path, body)
            #expect(put.status == status, "\(put.text)")
            #expect(put["external_id"]?.string == external && put["username"]?.string == name)
            #expect(put["profile_image"]?.string == "https://a.example/z.png" && put["kind"] == .string("person"))
            ids.insert(try put.string("id"))
        }
        #expect(ids.count == 1)
        let id = try #require(ids.first)
        let token = try await TestNode.shared().hostApp.token(of: external)
        let login = try await Client().post("/v1/auth/login", #"{"token":"\#(token)"}"#)
        #expect(login["user.id"]?.string == id, "\(login.text)")
        let renamed = try await admin.put("/v1/admin/users/\(id)", #"{"name":"Ben","profile_image":null}"#)
        #expect(renamed.status == 200 && renamed["name"] == .string("Ben") && renamed["profile_image"] == .null)
        #expect(renamed["username"]?.string == name)
        let actions = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array?
            .filter { $0["user_id"]?.string == id }.map { $0["action"]?.string }
        #expect(actions == ["user.update", "user.create"])
    }

    @Test("finds accounts by external id, address, username and the beginning of a name, all together")
    func finds() async throws {
        let (admin, external) = (try await Self.admin(), Self.externalID())
        let word = "q\(UserID.make().description.suffix(10))"
        let mail = "\(word)@shop.example"
        let id = try await admin.put(Self.path(external), #"{"name":"Ann \#(word)","email":"\#(mail)"}"#).string("id")
        for query in [
            "external_id=\(percentEncoded(external))", "email=\(mail.uppercased())", "query=\(word.prefix(8))",
            "query=ann&email=\(mail)", "external_id=\(percentEncoded(external))&query=\(word)",
        ] {
            let found = try await admin.get("/v1/admin/users?\(query)")["users"]?.array ?? []
            #expect(found.map { $0["id"]?.string } == [id], "\(query)")
        }
        for query in ["external_id=nobody-\(word)", "query=ben&email=\(mail)", "email=x\(mail)"] {
            #expect(try await admin.get("/v1/admin/users?\(query)")["users"] == .array([]), "\(query)")
        }
        // The words follow the name.
        #expect(try await admin.put(Self.path(external), #"{"name":"Ben"}"#).status == 200)
        #expect(try await admin.get("/v1/admin/users?query=\(word)")["users"] == .array([]))
    }

    @Test("an external id names a user wherever an admin path, query or body takes one")
    func namesUsers() async throws {
        let (admin, external) = (try await Self.admin(), Self.externalID())
        let id = try await admin.put(Self.path(external), #"{"name":"Ann"}"#).string("id")
        #expect(try await admin.get(Self.path(external)).string("id") == id)
        #expect(try await admin.get("/v1/admin/users/ext%3A\(percentEncoded(external))").string("id") == id)
        #expect(try await admin.post(Self.path(external) + "/sessions").status == 201)
        for call in ["PUT", "DELETE"] {
            #expect(try await admin.send(call, Self.path(external) + "/suspension").status == 204)
        }
        let hold = try await admin.post("/v1/admin/holds", #"{"name":"Case","user_id":"ext:\#(external)"}"#)
        #expect(hold.status == 201 && hold["user_id"]?.string == id, "\(hold.text)")
        #expect(try await admin.delete("/v1/admin/holds/\(hold.string("id"))").status == 204)
        let export = try await admin.get("/v1/admin/export?user=ext:\(percentEncoded(external))")
        #expect(export.status == 200 && export.text.contains(id))
        // Unknown: 404 in a path, 422 in a query or body.
        #expect(try await admin.put(Self.path("nobody") + "/suspension").problemCode == "user_not_found")
        let body = try await admin.post("/v1/admin/holds", #"{"name":"Case","user_id":"ext:nobody"}"#)
        #expect(body.status == 422 && body.errorFields == ["user_id"])
        #expect(try await admin.get("/v1/admin/export?user=ext:nobody").errorFields == ["user"])
        #expect(try await admin.delete(Self.path(external)).status == 204)
        #expect(try await admin.get(Self.path(external)).problemCode == "user_not_found")
    }

    @Test("refuses what is another's, what cannot change, and ids that are none")
    func refuses() async throws {
        let (admin, external) = (try await Self.admin(), Self.externalID())
        let mail = "m\(UserID.make().description.suffix(10))@shop.example"
        let ann = try await Person.make("Ann")
        #expect(try await admin.put(Self.path(Self.externalID()), #"{"name":"A","email":"\#(mail)"}"#).status == 201)
        #expect(
            try await admin.put(Self.path(external), #"{"name":"B","username":"\#(ann.username)"}"#).problemCode
                == "username_taken")
        #expect(
            try await admin.put(Self.path(external), #"{"name":"B","email":"\#(mail)"}"#).problemCode == "email_taken")
        // Nothing was created.
        #expect(try await admin.get(Self.path(external)).status == 404)
        #expect(try await admin.put(Self.path(external), #"{"kind":"bot"}"#)["kind"] == .string("bot"))
        #expect(try await admin.put(Self.path(external), #"{"kind":"person"}"#).errorFields == ["kind"])
        #expect(try await admin.put(Self.path(external), #"{"nome":"x"}"#).errorFields == ["nome"])
        #expect(try await admin.put("/v1/admin/users/\(UserID.make())", "{}").problemCode == "user_not_found")
        for wrong in ["", String(repeating: "ä", count: 129), "a\u{1}b", "a\u{85}b"] {
            #expect(try await admin.put(Self.path(wrong), "{}").problemCode == "user_not_found", "\(wrong)")
        }
        #expect(try await admin.put("/v1/admin/users/ext:%zz", "{}").problemCode == "user_not_found")
        let long = String(repeating: "ä", count: 111) + UserID.make().description.suffix(17)
        #expect(try await admin.put(Self.path(long), "{}").status == 201)
        // Two spellings of one text are two ids.
        let unique = UserID.make().description
        let first = try await admin.put(Self.path("\u{e9}\(unique)"), "{}")
        let second = try await admin.put(Self.path("e\u{301}\(unique)"), "{}")
        #expect(first.status == 201 && second.status == 201)
    }

    @Test("reports what an account has unread, as its inbox counts it")
    func countsUnread() async throws {
        let (admin, ann, ben) = (try await Self.admin(), try await Person.make("Ann"), try await Person.make("Ben"))
        let path = "/v1/admin/users/\(ben.id)/unread"
        #expect(
            try await admin.get(path).json
                == .object([
                    .init("unread_total", .integer(0)), .init("mention_total", .integer(0)),
                ]))
        let thread = try await ann.group(with: [ben])
        _ = try await ann.say("hello", in: thread)
        let mention = #"{"payload":{"text":"Ben!"},"mentions":["\#(ben.id)"]}"#
        #expect(try await ann.client.post("/v1/threads/\(thread)/messages", mention).status == 201)
        let unread = try await admin.get(path)
        #expect(try unread.integer("unread_total") == 2 && unread.integer("mention_total") == 1)
        #expect(try await ben.client.get("/v1/inbox").integer("unread_total") == 2)
        #expect(try await admin.get("/v1/admin/users/\(UserID.make())/unread").problemCode == "user_not_found")
    }
}
