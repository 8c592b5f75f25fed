// Signing in with the host app's own tokens.
import Domain
import TestSupport
import Testing

@Suite("Signing in by the host app's tokens", .timeLimit(.minutes(1)))
struct SigningInByTokens {
    private func signIn(_ subject: String, _ more: String = "", device: String? = nil) async throws -> Reply {
        let token = try await TestNode.shared().hostApp.token(of: subject, more)
        let device = device.map { #","device_name":"\#($0)""# } ?? ""
        return try await Client().post("/v1/auth/login", #"{"token":"\#(token)"\#(device)}"#)
    }

    @Test("creates the account at first use, and finds it afterwards")
    func makesAccounts() async throws {
        let subject = "app|\(UserID.make())"
        let first = try await signIn(
            subject, #","name":"Ann Example","picture":"https://a.example/p.png""#, device: "phone")
        #expect(first.status == 200)
        #expect(first["user.username"] == .null)
        #expect(try first.string("user.name") == "Ann Example")
        #expect(try first.string("user.profile_image") == "https://a.example/p.png")
        #expect(try first.string("session.device_name") == "phone")
        let second = try await signIn(subject)
        #expect(second.status == 200)
        #expect(try second.string("user.id") == first.string("user.id"))
        // Fields that the token does not contain stay unchanged.
        #expect(try second.string("user.name") == "Ann Example")
        #expect(try second.string("session.id") != first.string("session.id"))
        let client = try await Client(token: second.string("session.token"))
        #expect(try await client.get("/v1/users/me").string("id") == first.string("user.id"))
        #expect(try await signIn(subject.uppercased())["user.id"] != first["user.id"])
    }

    @Test("does not use other claims as a name when the token has no name")
    func namesNobody() async throws {
        let reply = try await signIn("app|\(UserID.make())@secret.example", #","name":"","picture":"no""#)
        #expect(reply.status == 200)
        #expect(try reply.string("user.name") == "Unnamed")
        #expect(reply["user.profile_image"] == .null)
        let others = try reply.text.replacing(reply.string("user.external_id"), with: "")
        #expect(!others.contains("secret.example"))
    }

    @Test("updates the profile and publishes changes, and publishes nothing when nothing changed")
    func updatesProfiles() async throws {
        let subject = "app|\(UserID.make())"
        let word = "w\(UserID.make().description.suffix(12))"
        let first = try await signIn(subject, #","name":"Old \#(word)""#)
        let ann = try await Client(token: first.string("session.token"))
        let cursor = try await ann.get("/v1/sync").string("cursor")
        #expect(try await signIn(subject, #","name":"Old \#(word)""#).status == 200)
        let renamed = try await signIn(subject, #","name":"New \#(word)","picture":"https://a.example/n.png""#)
        #expect(try renamed.string("user.name") == "New \(word)")
        #expect(try renamed.string("user.profile_image") == "https://a.example/n.png")
        let events = try await ann.get("/v1/sync?cursor=\(cursor)&wait=0")
        #expect(events["events"]?.array?.compactMap { $0["type"]?.string } == ["user.updated"])
        #expect(try events.string("events.0.data.name") == "New \(word)")
        let searcher = try await Person.make()
        #expect(try await searcher.client.get("/v1/users?query=\(word)").string("users.0.name") == "New \(word)")
        #expect(try await searcher.client.get("/v1/users?query=old%20\(word)")["users.0"] == nil)
    }

    @Test("creates one account for many concurrent first sign-ins")
    func makesOne() async throws {
        let subject = "app|\(UserID.make())"
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<8 {
                group.addTask { try await signIn(subject, #","name":"Ann \#(number)""#).string("user.id") }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
    }

    @Test("returns the same problem for every invalid token")
    func refuses() async throws {
        let app = try await TestNode.shared().hostApp
        let stranger = try HostApp(.es256)
        try await checkRefusedAlike(
            [
                try app.token(of: "u1", for: -120), try stranger.token(of: "u1"), "a.b.c", "x", "",
                try app.token(of: "", #","name":"Ann""#), try app.token(#"{"sub":"u1"}"#),
            ].map { #"{"token":"\#($0)"}"# })
        let long = try await Client().post("/v1/auth/login", #"{"token":"\#(String(repeating: "x", count: 9000))"}"#)
        #expect(long.errorFields == ["token"])
    }
}
