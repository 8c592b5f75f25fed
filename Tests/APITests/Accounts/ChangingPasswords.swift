// Changing a password, and rehashing old hashes at sign-in.
import Credentials
import Domain
import TestSupport
import Testing

@Suite("Changing passwords", .timeLimit(.minutes(1)))
struct ChangingPasswords {
    private static let path = "/v1/users/me/password"

    private func signIn(_ person: Person, _ password: String) async throws -> Reply {
        try await Client().post(
            "/v1/auth/login", #"{"username":"\#(person.username)","password":"\#(password)"}"#)
    }

    @Test("signs out the other devices, keeps the caller's, and from then on accepts only the new password")
    func changes() async throws {
        let ann = try await Person.make("Ann")
        let other = try await Client(token: signIn(ann, "long enough").string("session.token"))
        #expect(try await other.get("/v1/users/me").status == 200)
        let reply = try await ann.client.put(Self.path, #"{"current":"long enough","new":"even longer"}"#)
        #expect(reply.status == 204 && reply.body.isEmpty)
        #expect(try await other.get("/v1/users/me").problemCode == "invalid_token")
        #expect(try await ann.client.get("/v1/users/me").status == 200)
        #expect(try await signIn(ann, "long enough").problemCode == "wrong_credentials")
        #expect(try await signIn(ann, "even longer").status == 200)
    }

    @Test("is refused with a wrong password, without a 401")
    func wrong() async throws {
        let ann = try await Person.make("Ann")
        let reply = try await ann.client.put(Self.path, #"{"current":"long enougH","new":"even longer"}"#)
        #expect(reply.status == 403)
        #expect(reply.problemCode == "wrong_password")
        #expect(reply.headers["www-authenticate"] == nil)
        #expect(try await signIn(ann, "long enough").status == 200)
    }

    @Test(
        "is refused with invalid fields",
        arguments: [
            (#"{"current":"long enough","new":"short"}"#, ["new"]), (#"{"new":"long enough"}"#, ["current"]),
            (#"{"current":"long enough"}"#, ["new"]), (#"{"current":7,"new":null}"#, ["current", "new"]),
            (#"{"current":"long enough","new":"even longer","username":"x"}"#, ["username"]),
        ])
    func refuses(_ body: String, _ fields: [String]) async throws {
        let ann = try await Person.make("Ann")
        let reply = try await ann.client.put(Self.path, body)
        #expect(reply.status == 422)
        #expect(reply.errorFields.sorted() == fields)
    }

    @Test("is refused for an account that signs in another way")
    func noPassword() async throws {
        let token = try await TestNode.shared().hostApp.token(of: "app|\(UserID.make())")
        let made = try await Client().post("/v1/auth/login", #"{"token":"\#(token)"}"#)
        let client = try await Client(token: made.string("session.token"))
        let reply = try await client.put(Self.path, #"{"current":"","new":"even longer"}"#)
        #expect(reply.status == 409)
        #expect(reply.problemCode == "no_password")
    }

    @Test("happens once when two devices do it at the same time")
    func together() async throws {
        let ann = try await Person.make("Ann")
        let other = try await Client(token: signIn(ann, "long enough").string("session.token"))
        async let first = ann.client.put(Self.path, #"{"current":"long enough","new":"first of two"}"#)
        async let second = other.put(Self.path, #"{"current":"long enough","new":"second of two"}"#)
        let statuses = try await [first.status, second.status]
        // The other device's session has ended, or its `current` is no longer the password.
        #expect(
            statuses.count { $0 == 204 } == 1 && statuses.allSatisfy { [204, 401, 403].contains($0) }, "\(statuses)")
        let right = statuses[0] == 204 ? "first of two" : "second of two"
        #expect(try await signIn(ann, right).status == 200)
    }

    @Test("replaces a hash of another cost at sign-in, but only with the right password")
    func rehashes() async throws {
        let ann = try await Person.make("Ann")
        let database = try await TestNode.shared().database
        let old = try await PasswordHasher(cost: ScryptCost(logN: 5, r: 8, p: 1)).hash("long enough", flow: "test")
        _ = try await Psql.run(
            "update users set password_hash = '\(old)' where id = '\(ann.id)'", conninfo: database)
        func cost() async throws -> String {
            try await Psql.run(
                "select split_part(password_hash, '$', 3) from users where id = '\(ann.id)'", conninfo: database)
        }
        #expect(try await signIn(ann, "wrong").problemCode == "wrong_credentials")
        #expect(try await cost() == "ln=5,r=8,p=1")
        // Two sign-ins at once: the second finds a different hash from the one it has checked, and reads it again.
        async let first = signIn(ann, "long enough")
        async let second = signIn(ann, "long enough")
        #expect(try await [first.status, second.status] == [200, 200])
        #expect(try await cost() == "ln=4,r=8,p=1")
        #expect(try await signIn(ann, "long enough").status == 200)
    }
}
