// Push registrations that can never work are refused at registration.

import TestSupport
import Testing

extension SystemTests {
    @Suite("A push registration that can never work")
    struct UselessRegistrations {
        private static let path = "/v1/sessions/current/push"

        private static func web(_ endpoint: String, key: String, secret: String = "AAAAAAAAAAAAAAAAAAAAAA") -> JSON {
            [
                "platform": "webpush", "endpoint": .string(endpoint),
                "keys": ["p256dh": .string(key), "auth": .string(secret)],
            ]
        }

        @Test("is refused: token not hexadecimal, private address in any spelling, key not on the curve")
        func refused() async throws {
            let stage = try await Stage.set()
            func refusal(_ body: JSON, _ field: String) -> Refusal {
                Refusal("PUT", Self.path, [422], field: field, as: stage.ann, json: body)
            }
            let key = TestBrowser().keyText
            let hosts = [
                "localhost", "LOCALHOST.", "x.localhost", "127.0.0.1", "127.0.0.1.", "127.1", "0x7f000001",
                "0177.0.0.1",
                "2130706433", "017700000001", "0", "10.0.0.1", "10.1", "192.168.0x1", "169.254.169.254", "0xa9fea9fe",
                "100.64.0.1", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[::127.0.0.1]",
                "[64:ff9b::10.0.0.1]", "[2002:7f00:1::]", "[fe80::1%25eth0]", "[fd00::1]", "127%2e0.0.1",
            ]
            var refusals = hosts.map { refusal(Self.web("https://\($0)/p", key: key), "endpoint") }
            refusals += hosts.map { refusal(Self.web("https://\($0):8443/p", key: key), "endpoint") }
            for token in ["xyz", "zz" + String(repeating: "ab", count: 31), String(repeating: "a", count: 63)] {
                refusals.append(
                    refusal(
                        ["platform": "apns", "token": .string(token), "environment": "production"], "token"))
            }
            // With one bit changed, the point is not on the curve.
            var bytes = TestBrowser().key
            bytes[64] ^= 1
            let beside = TestBrowser.text(bytes)
            refusals.append(refusal(Self.web("https://push.example/p", key: beside), "keys.p256dh"))
            refusals.append(refusal(Self.web("https://push.example/p", key: key, secret: "AAAA"), "keys.auth"))
            try await Refusal.expect(refusals, from: stage.node)

            let good = try await stage.node.curl.put(
                Self.path, Self.web("https://push.example/p", key: key), as: stage.ann)
            #expect(good.status == 200, "\(good)")
        }

        @Test("is accepted with a private address where the settings allow one")
        func allowed() async throws {
            let nodes = try await TestNodes.own(
                on: try await TestCluster.shared(), settings: ["PARLEY_PUSH_ALLOW_PRIVATE": "true"])
            let ann = try await nodes.a.curl.register("Ann")
            let browser = TestBrowser()
            for endpoint in ["https://localhost/p", "http://127.0.0.1:8080/p", "https://[::1]/p"] {
                let answer = try await nodes.a.curl.put(Self.path, Self.web(endpoint, key: browser.keyText), as: ann)
                #expect(answer.status == 200, "\(answer)")
            }
            let beside = try await nodes.a.curl.put(
                Self.path, Self.web("https://localhost/p", key: "BA" + String(repeating: "A", count: 85)), as: ann)
            #expect(beside.status == 422)
            try await nodes.stop()
        }
    }
}
