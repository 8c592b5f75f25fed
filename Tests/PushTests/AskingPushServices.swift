// Requests to a push service that a client named: encrypted for that client alone, signed by the server.
import Basics
import Cryptography
import Domain
import Outbound
import TestSupport
import Testing

@testable import Push

@Suite("Asking push services", .timeLimit(.minutes(1)))
struct AskingPushServices {
    private let keys = VAPIDKeyPair.make()
    private var webPush: WebPush { WebPush(keys: keys, subject: "mailto:ops@chat.example") }

    @Test("encrypts as the example of RFC 8291 does (appendix A)")
    func example() throws {
        func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.urlSafe.decode(text)) }
        let browser = try #require(
            WebPushKeys(
                key: bytes(
                    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
                secret: bytes("BTBZMqHH6r4Tts7J_aSIgg")))
        let ours = try #require(P256.PrivateKey(scalar: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
        let body = try browser.encrypt(
            Array("When I grow up, I want to be a watermelon".utf8), with: ours, salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(
            Base64.urlSafe.encode(body) == """
                DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8\
                wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
                """)
    }

    @Test(
        "encrypts texts of any length so that another implementation reads them, and no other browser",
        .enabled(if: Tool.permits(TestBrowser.canRead), "PyPI's http_ece is not installed (.ci/deps test)"))
    func decrypted() throws {
        let browser = TestBrowser()
        let messages = [0, 1, 3_000, 100_000].map { PushMessage.make(String(repeating: "ä", count: $0)) }
        var alerts = messages.map { PushAlert.make(.browser(browser), $0) }
        alerts.append(.make(.browser(browser), .badge(thread: .make(), readUpTo: Seq(9))))
        let bodies = try alerts.map { try webPush.request($0, now: PushAlert.now).body }
        let texts = try browser.read(bodies)
        #expect(texts.map { Array($0.utf8) } == alerts.map(WebPush.payload))
        #expect(texts.map(\.utf8.count).max() ?? 0 > 3_980)
        #expect(throws: Tool.Failure.self) { try TestBrowser().read([bodies[0]]) }
    }

    @Test("creates a new key and a new salt for every try")
    func fresh() throws {
        let alert = PushAlert.make(.browser(TestBrowser()))
        let bodies = try (0..<20).map { _ in try webPush.request(alert, now: PushAlert.now).body }
        #expect(Set(bodies.map { Array($0[..<16]) }).count == 20)
        #expect(Set(bodies.map { Array($0[21..<86]) }).count == 20)
        #expect(Set(bodies.map { Array($0[86...]) }).count == 20)
    }

    @Test("sends all of a message in 4,096 bytes, to be replaced by the next message of its thread")
    func message() throws {
        let browser = TestBrowser()
        let message = PushMessage.make("Hello", in: "Team")
        let request = try webPush.request(.make(.browser(browser), message), now: PushAlert.now)
        #expect(request.url == "https://push.example/v1/x?y")
        if case .anywhere = request.reach { Issue.record("reaches private addresses") }
        var header = request.header
        let (authorization, topic) = (header.removeValue(forKey: "authorization"), try #require(header["topic"]))
        #expect(authorization?.hasPrefix("vapid t=") == true)
        #expect(Base64.urlSafe.decode(topic)?.count == 16)
        #expect(topic.count == 22)
        #expect(
            header == [
                "content-encoding": "aes128gcm", "content-type": "application/octet-stream", "ttl": "86400",
                "topic": topic, "urgency": "high",
            ])
        let expected = try json(
            """
            {"event":"message","thread_id":"\(message.thread)","message_id":"\(message.message)","seq":7,"badge":3,\
            "title":"Team","body":"Ann: Hello"}
            """)
        #expect(try JSONReader.read(WebPush.payload(.make(.browser(browser), message))) == expected)
        let silent = PushAlert.make(.browser(browser), .badge(thread: message.thread, readUpTo: Seq(9)))
        #expect(try webPush.request(silent, now: PushAlert.now).header["topic"] == topic)
        #expect(try webPush.request(silent, now: PushAlert.now).header["urgency"] == "normal")
        let long = PushAlert.make(.browser(browser), .make(String(repeating: "x", count: 100_000)))
        #expect(WebPush.payload(long).count == 3_993)
        #expect(try webPush.request(long, now: PushAlert.now).body.count == 4_096)
    }

    @Test("signs for the endpoint's origin, with the key that is served, for less than a day")
    func signs() throws {
        let alert = PushAlert.make(.browser(TestBrowser(), "https://push.example:8443/a/b"))
        let text = try #require(try webPush.request(alert, now: PushAlert.now).header["authorization"])
        let match = try #require(text.wholeMatch(of: /vapid t=([^,]+), k=([^,]+)/))
        let (header, claims) = try parts(String(match.1))
        #expect(try header == json(#"{"alg":"ES256","typ":"JWT"}"#))
        let expected = try json(
            """
            {"aud":"https://push.example:8443","exp":\(PushAlert.now + 43_200),"sub":"mailto:ops@chat.example"}
            """)
        #expect(claims == expected)
        #expect(String(match.2) == keys.publicText)
        let point = try #require(Base64.urlSafe.decode(keys.publicText))
        let key = try #require(P256.PublicKey(point: point))
        #expect(try isSigned(String(match.1), by: key.isValid))
    }

    @Test("keeps a key pair as 32 bytes")
    func keeps() {
        #expect(keys.privateBytes.count == 32)
        #expect(VAPIDKeyPair(privateBytes: keys.privateBytes)?.publicText == keys.publicText)
        for bytes in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32)] {
            #expect(VAPIDKeyPair(privateBytes: bytes) == nil)
        }
    }

    @Test("builds no request for invalid keys or an invalid address")
    func refuses() {
        let browser = TestBrowser()
        func attempt(_ endpoint: String, _ key: [UInt8], _ secret: [UInt8]) throws {
            let target = PushTarget.webPush(endpoint: endpoint, key: key, secret: secret)
            _ = try webPush.request(.make(target), now: PushAlert.now)
        }
        // A point that is not on the curve; a compressed and a hybrid point; a secret that is too short.
        let keys = [
            [UInt8](repeating: 4, count: 65), [2] + browser.key[1..<33],
            [6 | browser.key[64] & 1] + browser.key[1...], [],
        ]
        for key in keys {
            #expect(throws: Unsendable.keys) { try attempt("https://a.example", key, browser.secret) }
        }
        #expect(throws: Unsendable.keys) { try attempt("https://a.example", browser.key, [1]) }
        #expect(throws: Unsendable.endpoint) { try attempt("file:///etc", browser.key, browser.secret) }
    }

    @Test(
        "names the origin without path, case and usual port",
        arguments: [
            ("https://push.example/a/b?c", "https://push.example"),
            ("https://Push.Example:443/a", "https://push.example"),
            ("https://push.example:8443", "https://push.example:8443"), ("http://127.0.0.1:80/x", "http://127.0.0.1"),
            ("https://[::1]:8443/x#y", "https://[::1]:8443"), ("HTTPS://push.example?x", "https://push.example"),
        ])
    func origin(_ url: String, _ origin: String) { #expect(Origin(url: url)?.text == origin) }

    @Test("has no origin of what is no server's address", arguments: ["", "https://", "ftp://a", "https://a@b/", "/x"])
    func noOrigin(_ url: String) { #expect(Origin(url: url) == nil) }
}
