// The e-mail address of an account: asking for one, confirming it by a mailed code, removing it. The tests are the mail
// worker of their node.
import Credentials
import Domain
import ServiceConfiguration
import TestSupport
import Testing

@Suite("The e-mail address of an account", .timeLimit(.minutes(1)), .serialized)
struct EmailOfAnAccount {
    private static let path = "/v1/users/me/email"

    private static let start = Task {
        try await TestNode {
            $0.mailServer = MailServer("smtp://127.0.0.1:1?starttls=off")
            $0.mailSender = MailSender("chat@parley.example")
        }
    }

    private let node: TestNode

    init() async throws { node = try await Self.start.value }

    private func person() async throws -> Person { try await Person.make("Ann", port: node.port) }

    private func address() -> String { "\(UserID.make().description.suffix(12))@mail.example" }

    private func sql(_ query: String) async throws -> String { try await Psql.run(query, conninfo: node.database) }

    /// Sends the mail that waits. Returns its purpose and its address; `withheld` if it is not sent.
    @discardableResult
    private func send(code: String = "123456") async throws -> String {
        let hash = try await PasswordHasher(cost: ScryptCost(logN: 4, r: 8, p: 1)).hash(code, flow: "test")
        return try await sql(
            """
            select case when c.outcome = 'send' and mail_code_put(c.mail, c.attempt, c.email,
                        case when c.purpose not in ('taken', 'replaced') then '\(hash)' end, 60)
                    and not mail_settle(c.mail, c.attempt, null) then c.purpose || ' ' || c.email else c.outcome end
            from mail_claim(60) c
            """)
    }

    private func ask(_ address: String, _ person: Person) async throws {
        let reply = try await person.client.put(Self.path, #"{"email":"\#(address)"}"#)
        #expect(reply.status == 202 && reply.body.isEmpty, "\(reply.text)")
    }

    private func confirm(_ code: String, _ person: Person) async throws -> Reply {
        try await person.client.post(Self.path, #"{"code":"\#(code)"}"#)
    }

    /// Gives the person an address of their own.
    private func confirmed(_ person: Person) async throws -> String {
        let address = address()
        try await ask(address, person)
        #expect(try await send() == "confirm \(address)")
        #expect(try await confirm("123 456", person).string("id") == person.id)
        return address
    }

    @Test("is the account's once the mailed code is used, and then signs in by codes")
    func gets() async throws {
        let ann = try await person()
        let address = address()
        #expect(try await confirm("123456", ann).problemCode == "wrong_code")
        try await ask(address, ann)
        #expect(try await send() == "confirm \(address)")
        let wrong = try await confirm("000000", ann)
        #expect(wrong.status == 403 && wrong.problemCode == "wrong_code")
        #expect(wrong.headers["www-authenticate"] == nil)
        #expect(try await sql("select count(*) from users where email is not null and id = '\(ann.id)'") == "0")
        #expect(try await confirm("123456", ann).string("id") == ann.id)
        #expect(try await confirm("123456", ann).problemCode == "wrong_code")
        #expect(try await Client(port: node.port).post("/v1/auth/code", #"{"email":"\#(address)"}"#).status == 202)
        #expect(try await send(code: "654321") == "sign_in \(address)")
        let login = try await Client(port: node.port).post(
            "/v1/auth/login", #"{"email":"\#(address)","code":"654321"}"#)
        #expect(try login.string("user.id") == ann.id)
    }

    @Test("of another account gets no code; its owner is notified, once a day, and the caller sees no difference")
    func taken() async throws {
        let (ann, bob, cara) = (try await person(), try await person(), try await person())
        let address = try await confirmed(ann)
        try await ask(address.uppercased(), bob)
        #expect(try await send() == "taken \(address)")
        for person in [bob, cara] {
            try await ask(address, person)
            #expect(try await send() == "withheld")
        }
        #expect(try await confirm("123456", bob).problemCode == "wrong_code")
        _ = try await sql("update email_notices set at = now() - interval '1 day'")
        try await ask(address, cara)
        #expect(try await send() == "taken \(address)")
        // Not even a code that the owner was mailed makes the address another account's, and it stays valid.
        #expect(try await Client(port: node.port).post("/v1/auth/code", #"{"email":"\#(address)"}"#).status == 202)
        #expect(try await send() == "sign_in \(address)")
        #expect(try await confirm("123456", cara).problemCode == "wrong_code")
        let login = try await Client(port: node.port).post(
            "/v1/auth/login", #"{"email":"\#(address)","code":"123456"}"#)
        #expect(login.status == 200, "\(login.text)")
    }

    @Test("replaces an earlier one, whose owner is notified")
    func replaces() async throws {
        let ann = try await person()
        let old = try await confirmed(ann)
        let new = address()
        try await ask(new, ann)
        #expect(try await send() == "confirm \(new)")
        #expect(try await confirm("123456", ann).status == 200)
        #expect(try await send() == "replaced \(old)")
        #expect(try await sql("select email_key from users where id = '\(ann.id)'") == new)
        // Asking for one's own address again changes nothing.
        try await ask(new, ann)
        #expect(try await send() == "confirm \(new)")
        #expect(try await confirm("123456", ann).status == 200)
        #expect(try await send() == "")
    }

    @Test("belongs to one of two accounts that confirm it at the same time")
    func race() async throws {
        let (ann, bob) = (try await person(), try await person())
        let address = address()
        try await ask(address, ann)
        #expect(try await send() == "confirm \(address)")
        try await ask(address, bob)
        #expect(try await send(code: "654321") == "confirm \(address)")
        async let first = confirm("123456", ann).status
        async let second = confirm("654321", bob).status
        #expect(try await [first, second].sorted() == [200, 403])
    }

    @Test("is removed, and its owner notified, unless the account signs in by nothing else")
    func removes() async throws {
        let ann = try await person()
        #expect(try await ann.client.delete(Self.path).status == 204)
        #expect(try await send() == "")
        let address = try await confirmed(ann)
        #expect(try await ann.client.delete(Self.path).status == 204)
        #expect(try await send() == "replaced \(address)")
        #expect(try await sql("select count(*) from users where email_key = '\(address)'") == "0")
        let again = try await confirmed(ann)
        _ = try await sql("update users set username = null, username_key = null where id = '\(ann.id)'")
        let refused = try await ann.client.delete(Self.path)
        #expect(refused.status == 409 && refused.problemCode == "email_needed")
        #expect(try await sql("select email_key from users where id = '\(ann.id)'") == again)
    }

    @Test("that an erased account wanted is forgotten")
    func erases() async throws {
        let ann = try await person()
        let address = address()
        try await ask(address, ann)
        #expect(try await ann.client.delete("/v1/users/me").status == 204)
        #expect(
            try await sql(
                """
                select (select count(*) from email_wishes where email_key = '\(address)')
                    + (select count(*) from mails where email_key = '\(address)')
                """) == "0")
    }

    @Test("needs a service that sends mail, and valid fields")
    func refuses() async throws {
        let ann = try await Person.make("Ann")
        let none = try await ann.client.put(Self.path, #"{"email":"ann@mail.example"}"#)
        #expect(none.status == 503 && none.problemCode == "mail_not_configured")
        #expect(try await ann.client.put(Self.path, #"{"email":"x"}"#).errorFields == ["email"])
        #expect(try await ann.client.post(Self.path, "{}").errorFields == ["code"])
    }
}
