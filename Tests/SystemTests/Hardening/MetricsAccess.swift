// /metrics by token or on its own port, without values that reveal who has an account.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Access to metrics", .timeLimit(.minutes(2)))
    struct MetricsAccess {
        private static let token = "admin-token-of-the-test"

        private func start(_ settings: [String: String], on database: String? = nil) async throws -> Node {
            let database = if let database { database } else { try await MigratedDatabase.create() }
            return try await Node.start(database: database, settings: settings)
        }

        private func status(_ node: Node, token: String? = nil) async throws -> Int {
            let headers = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
            return try await Connection(node.address).call("GET", "/metrics", headers: headers).status
        }

        @Test("admin: open with the admin token; 404 when none is configured")
        func admin() async throws {
            let node = try await start(["PARLEY_METRICS": "admin", "PARLEY_ADMIN_TOKEN": Self.token])
            #expect(try await status(node) == 401)
            #expect(try await status(node, token: "wrong") == 401)
            #expect(try await status(node, token: Self.token) == 200)
            let database = try await MigratedDatabase.create()
            let none = try await start(["PARLEY_METRICS": "admin"], on: database)
            #expect(try await status(none) == 404)
            #expect(try await status(none, token: Self.token) == 404)
            // Keys work without an admin token.
            for (scope, wanted) in [("metrics", 200), ("audit", 403)] {
                let made = try await admin(["create", "--name", scope, "--scopes", scope], on: database)
                let key = try JSON(parsing: Data(made.utf8))
                #expect(try await status(none, token: key["token"].string) == wanted)
                #expect(try await admin(["list"], on: database).contains(key["id"].string ?? "-"))
                _ = try await admin(["revoke", "--key", key["id"].string ?? ""], on: database)
                try await eventually("a dead key") { try await status(none, token: key["token"].string) == 401 }
            }
        }

        /// Runs `parley admin key` and returns what it prints.
        private func admin(_ words: [String], on database: String) async throws -> String {
            let outcome = try await Parley.run(["admin", "key"] + words, settings: ["PARLEY_DATABASE_URL": database])
            #expect(outcome.exit == .status(0), "\(outcome.errors)")
            return outcome.output
        }

        @Test("unset: open on loopback, otherwise with the admin token")
        func unset() async throws {
            #expect(try await status(try await start([:])) == 200)
            #expect(try await status(try await start(["PARLEY_HTTP_HOST": "0.0.0.0"])) == 404)
        }

        @Test("an address: served there and nowhere else, and nothing else is served there")
        func address() async throws {
            let port = try Sockets.freePort()
            let node = try await start(["PARLEY_METRICS": "127.0.0.1:\(port)", "PARLEY_ADMIN_TOKEN": Self.token])
            #expect(try await status(node, token: Self.token) == 404)
            let scraper = Connection(Address(host: "127.0.0.1", port: port))
            let page = try await scraper.get("/metrics")
            #expect(page.status == 200 && page.text.contains("parley_build_info"))
            for path in ["/", "/metrics/", "/v1/inbox", "/health/live"] {
                #expect(try await scraper.get(path).status == 404)
            }
            #expect(try await scraper.post("/metrics", [:]).status == 405)
            #expect(try await node.stop().exit == .status(0))
        }

        @Test("do not reveal whether a mail went to an account or to a stranger")
        func mails() async throws {
            let relay = try await TestRelay.shared()
            let database = try await MigratedDatabase.create()
            let server = "127.0.0.1:\(relay.ports.startTLS)"
            let settings = [
                "PARLEY_SMTP_URL": "smtp://parley:s3cret%40%3A%2F@\(server)?starttls=required",
                "PARLEY_MAIL_FROM": "chat@parley.example", "PARLEY_CA_FILE": relay.certificate,
            ]
            let node = try await start(settings, on: database)
            let connection = Connection(node.address)
            let ann = "\(unique("ann-"))@mail.example"
            let registered = try await connection.post(
                "/v1/auth/register", ["email": .string(ann), "name": "Ann"])
            #expect(registered.status == 202)
            try await relay.mail(to: ann)
            let wrong = "\(unique("gone-"))@mail.example"
            _ = try await connection.post("/v1/auth/register", ["email": .string(wrong), "name": "Bob"])
            let stranger = "\(unique("stranger-"))@mail.example"
            var before = try await mailMetrics(node, database, once: 2)
            // An address that will have an account, one that the relay refuses, and an unknown one.
            for (index, address) in [ann, wrong, stranger].enumerated() {
                #expect(try await connection.post("/v1/auth/code", ["email": .string(address)]).status == 202)
                let after = try await mailMetrics(node, database, once: 3 + Double(index))
                #expect(changes(before, after) == ["parley_mails_total{outcome=\"handled\"}": 1], "\(address)")
                before = after
            }
        }

        /// Returns the mail metrics once `count` mails were handled and the outcome of each is recorded.
        private func mailMetrics(_ node: Node, _ database: String, once count: Double) async throws -> [String: Double]
        {
            try await eventually("\(count) mails") { try await node.metric("parley_mails_total") == count }
            // A mail is counted before it is sent. What the node does with it ends with its row.
            try await eventually("no mail under way") {
                try await Psql.run("select count(*) from mails", conninfo: database) == "0"
            }
            let lines = try await Connection(node.address).get("/metrics").text.split(separator: "\n")
            let samples = lines.filter { $0.hasPrefix("parley_mail") }.map { $0.split(separator: " ") }
            return Dictionary(uniqueKeysWithValues: samples.map { (String($0[0]), Double($0[1]) ?? -1) })
        }

        private func changes(_ before: [String: Double], _ after: [String: Double]) -> [String: Double] {
            after.filter { before[$0.key] != $0.value }.mapValues { $0 }.reduce(into: [:]) { changes, sample in
                changes[sample.key] = sample.value - (before[sample.key] ?? 0)
            }
        }
    }
}
