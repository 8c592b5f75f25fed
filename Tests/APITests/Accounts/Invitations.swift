// Invitations to register, with a node where registration is by invitation.
import Credentials
import Domain
import TestSupport
import Testing

@Suite("Invitations", .timeLimit(.minutes(1)))
struct Invitations {
    private static let node = Task {
        try await TestNode(on: TestNode.shared().database) { $0.registration = .invited }
    }

    private let client: Client
    private let admin: Client

    init() async throws {
        let node = try await Self.node.value
        client = Client(port: node.port)
        admin = Client(port: node.port, token: TestNode.adminToken)
    }

    private func invite(_ body: String = "{}") async throws -> Reply {
        let made = try await admin.post("/v1/admin/invitations", body)
        #expect(made.status == 201, "\(made.text)")
        return made
    }

    private func register(_ code: String?, username: String? = nil) async throws -> Reply {
        let name = username ?? "invited.\(UserID.make())"
        let invitation = code.map { #","invitation":"\#($0)""# } ?? ""
        return try await client.post(
            "/v1/auth/register", #"{"username":"\#(name)","password":"long enough","name":"X"\#(invitation)}"#)
    }

    private func usesLeft(_ id: String) async throws -> Int64? {
        let list = try await admin.get("/v1/admin/invitations?limit=200")["invitations"]?.array ?? []
        return list.first { $0["id"]?.string == id }?["uses_left"]?.integer
    }

    @Test("let as many people register as they have uses, and are listed without their codes")
    func uses() async throws {
        let made = try await invite(#"{"uses":2}"#)
        let (id, code) = (try made.string("id"), try made.string("code"))
        #expect(made["uses_left"]?.integer == 2 && made["expires_at"] == .null)
        #expect(try await register(code).status == 201)
        #expect(try await usesLeft(id) == 1)
        #expect(try await register(" \(code) ").status == 201)
        let third = try await register(code)
        #expect(third.status == 403 && third.problemCode == "invitation_invalid")
        #expect(try await usesLeft(id) == 0)
        #expect(try await !admin.get("/v1/admin/invitations").text.contains(code))
    }

    @Test("are required, and unknown, expired and withdrawn ones are refused alike, whatever the username")
    func refusals() async throws {
        let known = try await Person.make()
        for name in [nil, known.username] {
            let reply = try await register(nil, username: name)
            #expect(reply.status == 403 && reply.problemCode == "invitation_required")
        }
        let expired = try await invite(#"{"expires_at":"2099-01-01T00:00:00Z"}"#)
        _ = try await Psql.run(
            "update invitations set expires_at = now() where id = '\(expired.string("id"))'",
            conninfo: TestNode.shared().database)
        let withdrawn = try await invite()
        #expect(try await admin.delete("/v1/admin/invitations/\(withdrawn.string("id"))").status == 204)
        let again = try await admin.delete("/v1/admin/invitations/\(withdrawn.string("id"))")
        #expect(again.problemCode == "invitation_not_found")
        var answers: Set<String> = []
        for code in [
            "", "x", InvitationCode.random().text, try expired.string("code"), try withdrawn.string("code"),
        ] {
            for name in [nil, known.username] {
                let reply = try await register(code, username: name)
                #expect(reply.status == 403 && reply.problemCode == "invitation_invalid", "\(reply.text)")
                answers.insert(reply.text)
            }
        }
        #expect(answers.count == 1)
    }

    @Test("stay unused when the registration fails, and are not needed where everyone may register")
    func staysUnused() async throws {
        let known = try await Person.make()
        let made = try await invite()
        let (id, code) = (try made.string("id"), try made.string("code"))
        #expect(try await register(code, username: known.username).problemCode == "username_taken")
        #expect(try await usesLeft(id) == 1)
        let open = try await Client().post(
            "/v1/auth/register",
            #"{"username":"open.\#(UserID.make())","password":"long enough","name":"X","invitation":"\#(code)"}"#)
        #expect(open.status == 201)
        #expect(try await usesLeft(id) == 1)
    }

    @Test("let nobody more register than they have uses when all come at once")
    func race() async throws {
        let code = try await invite(#"{"uses":3}"#).string("code")
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 { group.addTask { try await register(code).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == Array(repeating: 201, count: 3) + Array(repeating: 403, count: 9))
    }

    @Test(
        "refuse wrong fields",
        arguments: [
            (#"{"uses":0}"#, "uses"), (#"{"uses":1000001}"#, "uses"), (#"{"uses":"1"}"#, "uses"),
            (#"{"expires_at":"2020-01-01T00:00:00Z"}"#, "expires_at"), (#"{"use":1}"#, "use"),
        ])
    func fields(_ body: String, _ field: String) async throws {
        let reply = try await admin.post("/v1/admin/invitations", body)
        #expect(reply.status == 422 && reply.errorFields == [field], "\(reply.text)")
    }

    @Test("are recorded in the audit log by their ids, and a code is printed nowhere")
    func audit() async throws {
        let id = try await invite().string("id")
        _ = try await admin.delete("/v1/admin/invitations/\(id)")
        let entries = try await admin.get("/v1/admin/audit?limit=200")["entries"]?.array ?? []
        let own = entries.filter { $0["subject"]?.string == id }.map { $0["action"]?.string }
        #expect(own == ["invitation.delete", "invitation.create"])
        let code = InvitationCode.random()
        #expect(InvitationCode(parsing: code.text) == code && !"\(code)".contains(code.text))
        #expect(InvitationCode(parsing: code.text.dropLast()) == nil)
    }
}
