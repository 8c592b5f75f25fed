// /metrics by token or on its own port, without values that reveal who has an account. Also: how paths are spelled.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Access to metrics")
    struct MetricsAccess {
        private static let token = "admin-token-of-the-test"

        private func start(_ settings: [String: String]) async throws -> Node {
            try await Node.start(database: try await TestCluster.shared().createDatabase(), settings: settings)
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
            let none = try await start(["PARLEY_METRICS": "admin"])
            #expect(try await status(none) == 404)
            #expect(try await status(none, token: Self.token) == 404)
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
            let node = try await start([
                "PARLEY_SMTP_URL": "smtp://parley:s3cret%40%3A%2F@127.0.0.1:\(relay.ports.startTLS)?starttls=required",
                "PARLEY_MAIL_FROM": "chat@parley.example", "PARLEY_CA_FILE": relay.certificate,
            ])
            let connection = Connection(node.address)
            let ann = "\(unique("ann-"))@mail.example"
            let registered = try await connection.post(
                "/v1/auth/register", ["email": .string(ann), "name": "Ann"])
            #expect(registered.status == 202)
            try await relay.mail(to: ann)
            let wrong = "\(unique("gone-"))@mail.example"
            _ = try await connection.post("/v1/auth/register", ["email": .string(wrong), "name": "Bob"])
            let stranger = "\(unique("stranger-"))@mail.example"
            var before = try await mailMetrics(node, once: 2)
            // An address that will have an account, one that the relay refuses, and an unknown one.
            for (index, address) in [ann, wrong, stranger].enumerated() {
                #expect(try await connection.post("/v1/auth/code", ["email": .string(address)]).status == 202)
                let after = try await mailMetrics(node, once: 3 + Double(index))
                #expect(changes(before, after) == ["parley_mails_total{outcome=\"handled\"}": 1], "\(address)")
                before = after
            }
        }

        /// Returns the mail metrics once `count` mails were handled and the metrics are stable.
        private func mailMetrics(_ node: Node, once count: Double) async throws -> [String: Double] {
            try await eventually("\(count) mails") {
                try await node.metric("parley_mails_total") == count ? true : nil
            }
            try await Task.sleep(for: .milliseconds(500))
            let lines = try await Connection(node.address).get("/metrics").text.split(separator: "\n")
            let samples = lines.filter { $0.hasPrefix("parley_mail") }.map { $0.split(separator: " ") }
            return Dictionary(uniqueKeysWithValues: samples.map { (String($0[0]), Double($0[1]) ?? -1) })
        }

        private func changes(_ before: [String: Double], _ after: [String: Double]) -> [String: Double] {
            after.filter { before[$0.key] != $0.value }.mapValues { $0 }.reduce(into: [:]) { changes, sample in
                changes[sample.key] = sample.value - (before[sample.key] ?? 0)
            }
        }

        @Test("paths match byte for byte: everything else is 404, even when signed in")
        func paths() async throws {
            let nodes = try await TestNodes.shared()
            let ann = try await nodes.a.curl.register("Ann")
            let connection = Connection(nodes.a.address)
            for path in [
                "/v1/users/me/", "/v1//users/me", "//v1/users/me", "/v1/inbox;a=b", "/v1/%75sers/me", "/V1/inbox",
                "/v1/inbox/", "/v1/inbox;", "/v1/sync/", "//v1/sync", "/v1/s%79nc", "/health/live/", "//metrics",
                "/metrics/", "/metrics//", "/metrics;a", "/metric%73", "/" + String(repeating: "a/", count: 8_000),
            ] {
                let answer = try await connection.get(path, as: ann)
                #expect(answer.status == 404, "\(path.prefix(40)): \(answer.status)")
                #expect(answer.json["code"] == "not_found", "\(path.prefix(40)): \(answer)")
            }
            let put = try await connection.call("PUT", "/v1/inbox/", as: ann)
            #expect(put.status == 404)
        }
    }
}
