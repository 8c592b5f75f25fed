// Setting a forgotten password by the operator's code or a mailed one.
import Credentials
import Domain
import TestSupport
import Testing

@Suite("Forgotten passwords", .timeLimit(.minutes(1)))
struct ForgottenPasswords {
    private func reset(_ person: Person) async throws -> Reply {
        try await Client(token: TestNode.adminToken).post("/v1/admin/users/\(person.id)/password-reset")
    }

    private func set(_ name: String, _ code: String, to new: String = "even longer") async throws -> Reply {
        let field = name.contains("@") ? "email" : "username"
        return try await Client().post(
            "/v1/auth/password", #"{"\#(field)":"\#(name)","code":"\#(code)","new":"\#(new)"}"#)
    }

    private func signIn(_ name: String, _ password: String) async throws -> Reply {
        let field = name.contains("@") ? "email" : "username"
        return try await Client().post("/v1/auth/login", #"{"\#(field)":"\#(name)","password":"\#(password)"}"#)
    }

    /// Gives the person an address, and the address a valid code.
    private func mailed(_ person: Person) async throws -> (address: String, code: String) {
        let address = "\(person.username)@mail.example"
        let hash = try await PasswordHasher(cost: ScryptCost(logN: 4, r: 8, p: 1)).hash("123456", flow: "test")
        _ = try await Psql.run(
            """
            update users set email = '\(address)', email_key = '\(address)' where id = '\(person.id)';
            insert into mail_codes (email_key, counted_from, asked, failed, code_hash, code_email, code_expires_at)
            values ('\(address)', now(), 1, 0, '\(hash)', '\(address)', now() + interval '10 minutes')
            """, conninfo: TestNode.shared().database)
        return (address, "123456")
    }

    @Test("are replaced by the operator's code, once, and all sessions of the account end")
    func byOperator() async throws {
        let ann = try await Person.make("Ann")
        let code = try await reset(ann)
        #expect(code.status == 201 && code["expires_at"]?.string != nil, "\(code.text)")
        #expect(try await ann.client.get("/v1/users/me").status == 200)
        let text = try code.string("code")
        let typed = text.lowercased().split(separator: "-").joined(separator: " ")
        let made = try await set(ann.username.uppercased(), typed)
        #expect(made.status == 200, "\(made.text)")
        #expect(try made.string("user.id") == ann.id)
        #expect(try await ann.client.get("/v1/users/me").problemCode == "invalid_token")
        #expect(try await Client(token: made.string("session.token")).get("/v1/users/me").status == 200)
        #expect(try await signIn(ann.username, "long enough").status == 401)
        #expect(try await signIn(ann.username, "even longer").status == 200)
        #expect(try await set(ann.username, text).problemCode == "wrong_credentials")
    }

    @Test("are not replaced by an earlier code of the operator, after 24 hours, or after five wrong tries")
    func ends() async throws {
        let ann = try await Person.make("Ann")
        let first = try await reset(ann).string("code")
        let second = try await reset(ann).string("code")
        #expect(try await set(ann.username, first).status == 401)
        for _ in 0..<3 { #expect(try await set(ann.username, ResetCode.random().text).status == 401) }
        let third = try await reset(ann).string("code")
        for _ in 0..<4 { #expect(try await set(ann.username, second).status == 401) }
        #expect(try await set(ann.username, third).status == 200)
        let fourth = try await reset(ann).string("code")
        for _ in 0..<5 { #expect(try await set(ann.username, second).status == 401) }
        #expect(try await set(ann.username, fourth).status == 401)
        let fifth = try await reset(ann).string("code")
        _ = try await Psql.run(
            "update password_resets set expires_at = now() where user_id = '\(ann.id)'",
            conninfo: TestNode.shared().database)
        #expect(try await set(ann.username, fifth).status == 401)
        #expect(try await signIn(ann.username, "even longer").status == 200)
    }

    @Test("are replaced by a mailed code, with the address or the username, and the address signs in, too")
    func byMail() async throws {
        for byUsername in [false, true] {
            let ann = try await Person.make("Ann")
            let (address, code) = try await mailed(ann)
            #expect(try await set(address, "000000").status == 401)
            let made = try await set(byUsername ? ann.username : address.uppercased(), " \(code) ")
            #expect(made.status == 200, "\(made.text)")
            #expect(try await ann.client.get("/v1/users/me").status == 401)
            #expect(try await set(address, code).status == 401)
            #expect(try await signIn(address, "even longer").string("user.id") == ann.id)
            #expect(try await signIn(ann.username, "even longer").status == 200)
            #expect(try await signIn(address, "long enough").status == 401)
        }
    }

    @Test("are refused alike for unknown names, wrong codes, and accounts without a code or an address")
    func alike() async throws {
        let (ann, bob) = (try await Person.make("Ann"), try await Person.make("Bob"))
        let (address, _) = try await mailed(ann)
        _ = try await reset(ann)
        for code in ["000000", ResetCode.random().text, "", "x"] {
            var answers: Set<String> = []
            for name in [ann.username, address, bob.username, "nobody", "no body/", "nobody@mail.example"] {
                let reply = try await set(name, code)
                #expect(reply.status == 401 && reply.problemCode == "wrong_credentials", "\(reply.text)")
                #expect(reply.headers["www-authenticate"] == "Bearer")
                answers.insert(reply.text)
            }
            #expect(answers.count == 1)
        }
    }

    @Test("cannot be reset for bots, for people without a name to sign in by, and for nobody")
    func refusals() async throws {
        let admin = try await Client(token: TestNode.adminToken)
        let bot = try await admin.post("/v1/admin/users", #"{"name":"Bot","kind":"bot"}"#).string("id")
        let token = try await TestNode.shared().hostApp.token(of: "app|\(UserID.make())")
        let app = try await Client().post("/v1/auth/login", #"{"token":"\#(token)"}"#).string("user.id")
        for id in [bot, app] {
            let reply = try await admin.post("/v1/admin/users/\(id)/password-reset")
            #expect(reply.status == 409 && reply.problemCode == "no_password")
        }
        let nobody = try await admin.post("/v1/admin/users/\(UserID.make())/password-reset")
        #expect(nobody.problemCode == "user_not_found")
    }

    @Test("stay as they are for a suspended account, and its code stays valid")
    func suspended() async throws {
        let ann = try await Person.make("Ann")
        let code = try await reset(ann).string("code")
        let path = "/v1/admin/users/\(ann.id)/suspension"
        let admin = try await Client(token: TestNode.adminToken)
        #expect(try await admin.put(path).status == 204)
        #expect(try await set(ann.username, code).problemCode == "account_suspended")
        #expect(try await admin.delete(path).status == 204)
        #expect(try await signIn(ann.username, "long enough").status == 200)
        #expect(try await set(ann.username, code).status == 200)
    }

    @Test(
        "refuse wrong fields",
        arguments: [
            (#"{"code":"1","new":"long enough"}"#, ["username"]),
            (#"{"username":"a","email":"a@b.example","code":"1","new":"long enough"}"#, ["username"]),
            (#"{"email":"x","code":"1","new":"short"}"#, ["email", "new"]), (#"{"username":"a"}"#, ["code", "new"]),
        ])
    func fields(_ body: String, _ fields: [String]) async throws {
        let reply = try await Client().post("/v1/auth/password", body)
        #expect(reply.status == 422 && reply.errorFields.sorted() == fields, "\(reply.text)")
    }

    @Test("have codes that people can read out: no letters that look like digits, and no two alike")
    func codes() {
        let codes = (0..<200).map { _ in ResetCode.random() }
        #expect(Set(codes.map(\.text)).count == 200)
        for code in codes {
            #expect(code.text.count == 19 && !code.text.contains { "ILOU".contains($0) })
            #expect(ResetCode(parsing: code.text) == code && !"\(code)".contains(code.text))
            #expect(ResetCode(parsing: code.text.replacing("0", with: "o").replacing("1", with: "l")) == code)
        }
        for text in ["", "123456", "K7QF-2M9X-4TDA-0ZR", "K7QF-2M9X-4TDA-0ZRU", "K7QF-2M9X-4TDA-0ZRBB"] {
            #expect(ResetCode(parsing: text) == nil)
        }
    }
}
