// Accounts with username and password, and their sessions.
import Domain
import TestSupport
import Testing

@Suite("Signing in and out", .timeLimit(.minutes(1)))
struct SigningInAndOut {
    @Test("registers, and returns the account and a session whose token is shown once")
    func registers() async throws {
        let reply = try await Client().post(
            "/v1/auth/register",
            #"{"username":"Reg.\#(UserID.make())","password":"long enough","name":" Ann ","device_name":"phone"}"#)
        #expect(reply.status == 201)
        #expect(try reply.string("user.name") == "Ann")
        #expect(try reply.string("session.device_name") == "phone")
        let client = try await Client(token: reply.string("session.token"))
        let sessions = try await client.get("/v1/sessions")
        #expect(sessions.status == 200)
        #expect(try sessions.string("sessions.0.id") == reply.string("session.id"))
        #expect(sessions["sessions.0.token"] == nil)
        #expect(sessions["sessions.1"] == nil)
        #expect(sessions["next"] == nil)
    }

    @Test("refuses a username that is in use, ignoring case")
    func refusesTaken() async throws {
        let person = try await Person.make()
        let reply = try await Client().post(
            "/v1/auth/register",
            #"{"username":"\#(person.username.uppercased())","password":"long enough","name":"X"}"#)
        #expect(reply.status == 409)
        #expect(reply.problemCode == "username_taken")
    }

    @Test("signs in on another device, ignoring the username's case")
    func signsIn() async throws {
        let person = try await Person.make()
        let reply = try await Client().post(
            "/v1/auth/login", #"{"username":"\#(person.username.uppercased())","password":"long enough"}"#)
        #expect(reply.status == 200)
        #expect(try reply.string("user.id") == person.id)
        let me = try await Client(token: reply.string("session.token")).get("/v1/users/me")
        #expect(try me.string("id") == person.id)
        #expect(try await person.client.get("/v1/sessions")["sessions"]?.array?.count == 2)
    }

    @Test("returns the same problem for a wrong password, an unknown name and an invalid name")
    func saysTheSame() async throws {
        let person = try await Person.make()
        try await checkRefusedAlike(
            [
                (person.username, "wrong password"), ("nobody-\(UserID.make())", "long enough"), ("no body/", "x"),
                ("", ""),
            ].map { #"{"username":"\#($0)","password":"\#($1)"}"# })
    }

    @Test("ends only the caller's session at logout")
    func signsOut() async throws {
        let person = try await Person.make()
        let login = try await Client().post(
            "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
        let second = try await Client(token: login.string("session.token"))
        #expect(try await second.get("/v1/users/me").status == 200)
        let reply = try await second.post("/v1/auth/logout")
        #expect(reply.status == 204)
        #expect(reply.body.isEmpty)
        let after = try await second.get("/v1/users/me")
        #expect(after.status == 401)
        #expect(after.problemCode == "invalid_token")
        #expect(after.headers["www-authenticate"] == #"Bearer error="invalid_token""#)
        #expect(try await person.client.get("/v1/users/me").status == 200)
    }

    @Test("makes a browser drop its cached pictures when the caller's own session ends, and only then")
    func forgettingPictures() async throws {
        let person = try await Person.make()
        func login() async throws -> (id: String, client: Client) {
            let login = try await Client().post(
                "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
            return (try login.string("session.id"), try await Client(token: login.string("session.token")))
        }
        let (first, second) = (try await login(), try await login())
        let other = try await person.client.delete("/v1/sessions/\(first.id)")
        #expect(other.status == 204 && other.headers["clear-site-data"] == nil)
        let own = try await second.client.delete("/v1/sessions/\(second.id)")
        #expect(own.status == 204 && own.headers["clear-site-data"] == #""cache""#)
        #expect(try await login().client.post("/v1/auth/logout").headers["clear-site-data"] == #""cache""#)
        let erased = try await person.client.delete("/v1/users/me")
        #expect(erased.status == 204 && erased.headers["clear-site-data"] == #""cache""#)
    }

    @Test("signs out another of the caller's devices by id, but no other person's")
    func deletesSessions() async throws {
        let person = try await Person.make()
        let stranger = try await Person.make()
        let login = try await Client().post(
            "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
        let id = try login.string("session.id")
        #expect(try await stranger.client.delete("/v1/sessions/\(id)").problemCode == "session_not_found")
        #expect(try await person.client.delete("/v1/sessions/\(id)").status == 204)
        #expect(try await Client(token: login.string("session.token")).get("/v1/users/me").status == 401)
        #expect(try await person.client.delete("/v1/sessions/\(id)").status == 404)
        #expect(try await person.client.delete("/v1/sessions/current-ish").problemCode == "session_not_found")
    }

    @Test("signs out all other devices with one call")
    func deletesOthers() async throws {
        let person = try await Person.make()
        var others: [Client] = []
        for _ in 0..<2 {
            let reply = try await Client().post(
                "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
            others.append(try await Client(token: reply.string("session.token")))
        }
        for other in others { #expect(try await other.get("/v1/users/me").status == 200) }
        let stranger = try await Person.make()
        #expect(try await person.client.delete("/v1/sessions").status == 204)
        for other in others { #expect(try await other.get("/v1/users/me").problemCode == "invalid_token") }
        #expect(try await person.client.get("/v1/sessions")["sessions"]?.array?.count == 1)
        #expect(try await person.client.delete("/v1/sessions").status == 204)
        #expect(try await stranger.client.get("/v1/users/me").status == 200)
    }

    @Test("refuses the token of a session unused for 90 days")
    func endsIdle() async throws {
        let person = try await Person.make()
        let login = try await Client().post(
            "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
        // The token was not used yet, so only the database knows the session.
        let database = try await TestNode.shared().database
        func age(_ days: Int) async throws {
            let id = try login.string("session.id")
            _ = try await Psql.run(
                "update sessions set last_used_at = now() - interval '\(days) days' where id = '\(id)'",
                conninfo: database)
        }
        let client = try await Client(token: login.string("session.token"))
        try await age(91)
        #expect(try await client.get("/v1/users/me").problemCode == "invalid_token")
        try await age(89)
        #expect(try await client.get("/v1/users/me").status == 200)
    }

    @Test("lists sessions in pages, newest first")
    func pages() async throws {
        let person = try await Person.make()
        for _ in 0..<3 {
            let reply = try await Client().post(
                "/v1/auth/login", #"{"username":"\#(person.username)","password":"long enough"}"#)
            #expect(reply.status == 200)
        }
        var seen: [String] = []
        var path = "/v1/sessions?limit=3"
        for _ in 0..<2 {
            let page = try await person.client.get(path)
            #expect(page["limit"]?.integer == 3)
            seen += page["sessions"]?.array?.compactMap { $0["id"]?.string } ?? []
            guard let next = page["next"]?.string else { break }
            path = "/v1/sessions?limit=3&page=\(next)"
        }
        #expect(seen.count == 4)
        #expect(Set(seen).count == 4)
        #expect(seen == seen.sorted(by: >))
    }

    @Test(
        "requires a bearer token",
        arguments: ["", "Basic dTpw", "Bearer", "Bearer ", "Bearer x", "Bearer parley_x", "bearer a b", "Token x"])
    func wantsToken(_ header: String) async throws {
        let client = try await Client()
        let reply = try await client.send("GET", "/v1/users/me", headers: ["Authorization: \(header)"])
        #expect(reply.status == 401)
        #expect(reply.problemCode == "invalid_token")
        #expect(reply.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
        let without = try await client.get("/v1/users/me")
        #expect(without.problemCode == "unauthenticated")
        #expect(without.headers["www-authenticate"] == "Bearer")
    }

    @Test("accepts the scheme in any case")
    func takesAnyCase() async throws {
        let person = try await Person.make()
        let token = try #require(person.client.token)
        for scheme in ["bearer", "BEARER", "Bearer"] {
            let client = try await Client()
            let reply = try await client.send("GET", "/v1/users/me", headers: ["Authorization: \(scheme) \(token)"])
            #expect(reply.status == 200)
        }
    }

    @Test("reports all mistakes of a registration at once")
    func tellsAll() async throws {
        let reply = try await Client().post(
            "/v1/auth/register", #"{"username":"a b","password":"short","nmae":"Ann"}"#)
        #expect(reply.status == 422)
        #expect(reply.problemCode == "invalid")
        #expect(Set(reply.errorFields) == ["username", "password", "name", "nmae"])
    }

    @Test("reports that mail is not configured, after checking the request")
    func saysMailIsMissing() async throws {
        let client = try await Client()
        for (path, body) in [
            ("/v1/auth/register", #"{"email":"a@b.example","name":"Ann"}"#),
            ("/v1/auth/code", #"{"email":"a@b.example"}"#),
        ] {
            let reply = try await client.post(path, body)
            #expect(reply.status == 503)
            #expect(reply.problemCode == "mail_not_configured")
            #expect(reply.headers["retry-after"] != nil)
        }
        #expect(try await client.post("/v1/auth/code", #"{"email":"nobody"}"#).errorFields == ["email"])
        #expect(try await client.post("/v1/auth/register", #"{"email":"a@b.example"}"#).errorFields == ["name"])
    }

    @Test(
        "refuses invalid addresses, and addresses that need internationalised mail, in every call",
        arguments: [
            #"a@b.example\r\nBcc: c@d.example"#, #"a\u0000@b.example"#, "a@b.example, c@d.example", "用户@b.example",
            #"\"a b\"@c.example"#, "a@[127.0.0.1]", "mi\u{212a}e@a.example",
        ])
    func refusesAddresses(_ address: String) async throws {
        let client = try await Client()
        for (path, rest) in [
            ("/v1/auth/register", #","name":"Ann""#), ("/v1/auth/code", ""), ("/v1/auth/login", #","code":"123456""#),
        ] {
            let reply = try await client.post(path, #"{"email":"\#(address)"\#(rest)}"#)
            #expect(reply.status == 422)
            #expect(reply.errorFields == ["email"])
        }
    }

    @Test(
        "refuses a request that mixes ways of signing in",
        arguments: [
            #"{"username":"a","password":"b","email":"a@b.c"}"#, #"{"token":"x","username":"a"}"#,
            #"{"email":"a@b.c","code":"1","token":"x"}"#, #"{"code":"123456","password":"x"}"#, "{}",
        ])
    func refusesMixing(_ body: String) async throws {
        let reply = try await Client().post("/v1/auth/login", body)
        #expect(reply.status == 422)
        #expect(reply.problemCode == "invalid")
        #expect(!reply.errorFields.isEmpty)
    }

    @Test("refuses codes while none was requested")
    func refusesCodes() async throws {
        let reply = try await Client().post("/v1/auth/login", #"{"email":"a@b.c","code":"123456"}"#)
        #expect(reply.problemCode == "wrong_credentials")
    }
}
