// Signing in by mail: two nodes, a real relay, and failures between them.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Mailed codes", .timeLimit(.minutes(3)))
    struct MailedCodes {
        private struct Place: Sendable {
            let nodes: TestNodes
            let relay: TestRelay
        }

        private static let start = Task {
            let relay = try await TestRelay.shared()
            let nodes = try await TestNodes.own(on: try await TestCluster.shared(), settings: settings(relay))
            return Place(nodes: nodes, relay: relay)
        }

        private static func settings(_ relay: TestRelay) -> [String: String] {
            [
                "PARLEY_SMTP_URL": "smtp://parley:s3cret%40%3A%2F@127.0.0.1:\(relay.ports.startTLS)?starttls=required",
                "PARLEY_MAIL_FROM": "chat@parley.example", "PARLEY_CA_FILE": relay.certificate,
                "PARLEY_APP_NAME": "Ännchens <Plausch>",
                // One of the tests makes twelve attempts from one address at once.
                "PARLEY_ACCOUNT_SIGN_INS_MAX": "12", "PARLEY_ADDRESS_SIGN_INS_MAX": "12",
            ]
        }

        private let nodes: TestNodes
        private let relay: TestRelay
        private let a: Connection
        private let b: Connection

        init() async throws {
            let place = try await Self.start.value
            nodes = place.nodes
            relay = place.relay
            a = Connection(nodes.a.address)
            b = Connection(nodes.b.address)
        }

        private func address(_ kind: String = "ann") -> String { "\(unique(kind + "-"))@mail.example" }

        private func sql(_ query: String) async throws -> String { try await Psql.run(query, conninfo: nodes.database) }

        private func logIn(_ address: String, _ code: String, at node: Connection) async throws -> Answer {
            try await node.post("/v1/auth/login", ["email": .string(address), "code": .string(code)])
        }

        private func ask(_ address: String, at node: Connection) async throws {
            let answer = try await node.post("/v1/auth/code", ["email": .string(address)])
            #expect(answer.status == 202 && answer.body.isEmpty, "\(answer)")
        }

        private func register(_ address: String, at node: Connection, device: String? = nil) async throws {
            var body: [String: JSON] = ["email": .string(address), "name": "Ann"]
            if let device { body["device_name"] = .string(device) }
            let answer = try await node.post("/v1/auth/register", .object(body))
            #expect(answer.status == 202 && answer.body.isEmpty, "\(answer)")
        }

        /// Returns a code that differs from this one.
        private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

        @Test("create an account on one node and sign in to it on another; mails use STARTTLS, text and HTML")
        func registers() async throws {
            let ann = address()
            try await register(ann, at: a, device: "phone")
            let mail = try await relay.mail(to: ann)
            #expect(mail.tls && mail.login == "parley" && mail.sender == "chat@parley.example")
            let code = try #require(mail.code)
            #expect(mail.content.contains("\r\nFrom: =?utf-8?B?") && mail.content.contains("\r\nSubject: =?utf-8?B?"))
            #expect(mail.content.contains("multipart/alternative") && mail.content.contains("&lt;Plausch&gt;"))
            #expect(mail.content.matches(of: /\b[0-9]{6}\b/).map { String($0.0) } == [code, code])

            #expect(try await sql("select count(*) from users where email_key = '\(ann)'") == "0")
            let made = try await logIn(ann, " \(code.prefix(3)) \(code.suffix(3))", at: b)
            #expect(made.status == 200, "\(made)")
            #expect(made.json["user"]["name"].string == "Ann" && made.json["user"]["username"] == .null)
            #expect(made.json["session"]["device_name"].string == "phone")
            let token = try #require(made.json["session"]["token"].string)
            let device = Person(id: "", username: "", password: "", session: "", token: token)
            let me = try await a.get("/v1/users/me", as: device)
            #expect(me.json["id"].string == made.json["user"]["id"].string)

            // A used code is invalid on every node; registering again signs in.
            #expect(try await logIn(ann, code, at: a).status == 401)
            try await register(ann.uppercased(), at: b)
            let second = try #require(try await relay.mail(to: ann, count: 2).code)
            let again = try await a.post(
                "/v1/auth/login",
                ["email": .string(ann.uppercased()), "code": .string(second), "device_name": "laptop"])
            #expect(again.json["user"]["id"].string == made.json["user"]["id"].string, "\(again)")
            #expect(again.json["session"]["device_name"].string == "laptop")
        }

        @Test("allow five attempts on all nodes together, and every failure has the same answer")
        func tries() async throws {
            let (ann, stranger) = (address(), address())
            try await register(ann, at: a)
            let code = try #require(try await relay.mail(to: ann).code)
            var answers: Set<String> = []
            func refused(_ address: String, _ code: String, _ node: Connection) async throws {
                let answer = try await logIn(address, code, at: node)
                #expect(answer.status == 401 && answer.json["code"].string == "wrong_credentials", "\(answer)")
                answers.insert(answer.text)
            }
            for number in 0..<5 { try await refused(ann, wrong(code), number % 2 == 0 ? a : b) }
            try await refused(ann, code, a)
            try await refused(stranger, code, b)
            try await refused(ann, "", b)

            // The next code is valid, but failures count until a right code is entered.
            try await ask(ann, at: b)
            let next = try #require(try await relay.mail(to: ann, count: 2).code)
            try await refused(ann, wrong(next), a)
            #expect(try await sql("select failed from mail_codes where email_key = '\(ann)'") == "6")
            #expect(try await logIn(ann, next, at: b).status == 200)
            #expect(try await sql("select failed from mail_codes where email_key = '\(ann)'") == "0")
            try await refused(ann, next, a)

            // The code has expired.
            try await ask(ann, at: a)
            let last = try #require(try await relay.mail(to: ann, count: 3).code)
            _ = try await sql("update mail_codes set code_expires_at = now() where email_key = '\(ann)'")
            try await refused(ann, last, b)
            #expect(answers.count == 1, "\(answers)")
        }

        @Test("are not sent to unknown addresses, nor after too many failures or mails in a day")
        func withheld() async throws {
            let (stranger, ann) = (address(), address())
            try await ask(stranger, at: a)
            try await register(ann, at: a)
            try await relay.mail(to: ann)
            for condition in ["failed = 10, asked = 2", "failed = 0, asked = 20"] {
                try await settled(ann)
                _ = try await sql("update mail_codes set \(condition) where email_key = '\(ann)'")
                try await ask(ann, at: b)
            }
            try await settled(ann)
            try await settled(stranger)
            #expect(try relay.attempts(to: ann) == 1 && relay.attempts(to: stranger) == 0)
            // A day later the limits are over.
            _ = try await sql(
                "update mail_codes set counted_from = now() - interval '1 day' where email_key = '\(ann)'")
            try await ask(ann, at: b)
            try await relay.mail(to: ann, count: 2)
        }

        /// Waits until no mail to an address waits.
        private func settled(_ address: String) async throws {
            try await eventually("no mail to \(address)", every: .milliseconds(30)) {
                try await sql("select count(*) from mails where email_key = '\(address)'") == "0"
            }
        }

        @Test("are retried when the relay is busy, down or disconnects, and dropped when it refuses permanently")
        func misbehaving() async throws {
            let passing = ["busy", "shut", "drop"].map { self.address($0) }
            let lasting = ["gone", "spam"].map { self.address($0) }
            let full = address("full")
            for ann in passing + lasting + [full] { try await register(ann, at: a) }
            for ann in lasting { try await settled(ann) }
            for ann in passing {
                let mail = try await relay.mail(to: ann)
                #expect(try relay.attempts(to: ann) == 2)
                #expect(try await logIn(ann, try #require(mail.code), at: b).status == 200)
            }
            for ann in lasting { #expect(try relay.attempts(to: ann) == 1) }
            try await eventually("a second try") { try relay.attempts(to: full) >= 2 }
            // The mail is too old to be retried.
            _ = try await sql(
                "update mails set asked_at = now() - interval '10 minutes', due_at = now() where email_key = '\(full)'")
            try await settled(full)
        }

        @Test("are sent by another node when the node that claimed the mail is killed")
        func killed() async throws {
            let own = try await TestNodes.own(on: try await TestCluster.shared(), settings: Self.settings(relay))
            let ann = address("hang")
            try await register(ann, at: Connection(own.a.address))
            try await eventually("a mail under way") { try relay.attempts(to: ann) == 1 }
            // Either node may have claimed it: the node that was asked is notified first, but the other node looks for due mails too.
            try await own.a.kill()
            let left = try await Psql.run("select attempt, due_at > now() from mails", conninfo: own.database)
            #expect(left == "1|t")
            _ = try await Psql.run("update mails set due_at = now()", conninfo: own.database)
            let mail = try await relay.mail(to: ann)
            let answer = try await logIn(ann, try #require(mail.code), at: Connection(own.b.address))
            #expect(answer.status == 200, "\(answer)")
            #expect(try relay.attempts(to: ann) == 2 && relay.mails(to: ann).count == 1)
            try await own.b.stop()
        }

        @Test("in transfer while a node stops are delivered, and not sent twice")
        func stopping() async throws {
            var settings = Self.settings(relay)
            settings["PARLEY_DRAIN_SECONDS"] = "0"
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: settings)
            let ann = address("slow")
            try await register(ann, at: Connection(node.address))
            try await eventually("a mail under way") { try relay.attempts(to: ann) == 1 }
            #expect(try await node.stop().exit == .status(0))
            #expect(try relay.mails(to: ann).count == 1)
            #expect(try await Psql.run("select count(*) from mails", conninfo: database) == "0")
        }

        @Test("make an address an account's; its owner is notified of others who want it, and of the end of it")
        func addresses() async throws {
            let (ann, bob) = (try await a.register("Ann"), try await b.register("Bob"))
            let (first, second) = (address(), address())
            func put(_ email: String, by person: Person) async throws {
                #expect(try await a.put("/v1/users/me/email", ["email": .string(email)], as: person).status == 202)
            }
            func confirm(_ code: String?, by person: Person) async throws -> Answer {
                try await b.post("/v1/users/me/email", ["code": .string(try #require(code))], as: person)
            }
            try await put(first, by: ann)
            let mail = try await relay.mail(to: first)
            #expect(mail.content.contains("to use this address"))
            #expect(try await confirm(mail.code, by: ann).status == 200)
            try await put(first, by: bob)
            let notice = try await relay.mail(to: first, count: 2)
            #expect(notice.code == nil && notice.content.contains("Somebody asked to use this e-mail address"))
            try await put(second, by: ann)
            #expect(try await confirm(relay.mail(to: second).code, by: ann).status == 200)
            let last = try await relay.mail(to: first, count: 3)
            #expect(last.code == nil && last.content.contains("does not belong to your account"))
            // The address is free again.
            try await put(first, by: bob)
            #expect(try await confirm(relay.mail(to: first, count: 4).code, by: bob).status == 200)
        }
    }
}
