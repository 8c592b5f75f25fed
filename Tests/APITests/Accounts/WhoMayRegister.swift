// Who may create an account, and whom the directory finds, by the settings.
import Domain
import TestSupport
import Testing

@Suite("Who may register", .timeLimit(.minutes(1)))
struct WhoMayRegister {
    private static let closed = Task {
        try await TestNode(on: TestNode.shared().database) {
            $0.registration = .closed
            $0.limits.directory = .off
        }
    }

    private static let shared = Task {
        try await TestNode(on: TestNode.shared().database) { $0.limits.directory = .shared }
    }

    @Test("is nobody where registration is closed, and the refusal is the same for every name and address")
    func refuses() async throws {
        let known = try await Person.make()
        let node = try await Self.closed.value
        let client = Client(port: node.port)
        var answers: Set<String> = []
        for body in [
            #"{"username":"\#(known.username)","password":"long enough","name":"X"}"#,
            #"{"username":"new.\#(UserID.make())","password":"long enough","name":"X"}"#,
            #"{"email":"ann@mail.example","name":"X"}"#, "{}",
        ] {
            let reply = try await client.post("/v1/auth/register", body)
            #expect(reply.status == 403 && reply.problemCode == "registration_closed", "\(reply.text)")
            answers.insert(reply.text)
        }
        #expect(answers.count == 1)
    }

    @Test("includes the host app's people and those whom the operator creates in any case")
    func others() async throws {
        let node = try await Self.closed.value
        let client = Client(port: node.port)
        let token = try node.hostApp.token(of: "closed.\(UserID.make())")
        #expect(try await client.post("/v1/auth/login", #"{"token":"\#(token)"}"#).status == 200)
        let admin = Client(port: node.port, token: TestNode.adminToken)
        let name = "made.\(UserID.make())"
        let made = try await admin.post(
            "/v1/admin/users", #"{"username":"\#(name)","password":"long enough","name":"X"}"#)
        #expect(made.status == 201)
        let login = try await client.post("/v1/auth/login", #"{"username":"\#(name)","password":"long enough"}"#)
        #expect(login.status == 200)
    }

    @Test("is separate from whom the directory finds: everyone, people who share a thread, nobody")
    func directory() async throws {
        let word = "d\(UserID.make().description.suffix(12))"
        let (ann, bob, cara) = (
            try await Person.make("Ann"), try await Person.make("Bob \(word)"), try await Person.make("Cara \(word)")
        )
        _ = try await ann.group(with: [bob])
        func found(on port: Int) async throws -> [String] {
            let reply = try await Client(port: port, token: ann.client.token).get("/v1/users?query=\(word)")
            #expect(reply.status == 200, "\(reply.text)")
            return reply["users"]?.array?.compactMap { $0["id"]?.string } ?? ["none"]
        }
        #expect(try await found(on: ann.client.port) == [bob.id, cara.id])
        #expect(try await found(on: Self.shared.value.port) == [bob.id])
        #expect(try await found(on: Self.closed.value.port) == [])
    }
}
