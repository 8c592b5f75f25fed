// Requests to Apple, and the token that authorizes them.
import Basics
import Cryptography
import Domain
import Outbound
import TestSupport
import Testing

@testable import Push

@Suite("Asking APNs", .timeLimit(.minutes(1)))
struct AskingAPNs {
    @Test("sends all of a message, with the same ids on every try")
    func message() throws {
        let message = PushMessage.make("Hello", in: "Team")
        let alert = PushAlert.make(.phone, message)
        let request = try APNs.make().request(alert, providerToken: .test)
        #expect(request.url == "https://api.push.apple.com/3/device/00fa")
        #expect(
            request.header == [
                "authorization": "bearer t.o.k", "apns-id": "\(alert.id)", "apns-topic": "org.example.app",
                "apns-collapse-id": "\(message.thread)", "apns-expiration": "\(PushAlert.now + 86_400)",
                "apns-push-type": "alert", "apns-priority": "10", "content-type": "application/json",
            ])
        let expected = try json(
            """
            {"aps":{"alert":{"title":"Team","body":"Ann: Hello"},"badge":3,"sound":"default",\
            "thread-id":"\(message.thread)","mutable-content":1},"event":"message",\
            "thread_id":"\(message.thread)","message_id":"\(message.message)","seq":7}
            """)
        #expect(request.json == expected)
        var again = alert
        again.attempt = 2
        again.badge = 4
        #expect(try APNs.make().request(again, providerToken: .test).header == request.header)
    }

    @Test("sends a badge count without a sound or a text")
    func badge() throws {
        let thread = ThreadID.make()
        let alert = PushAlert.make(.phone, .badge(thread: thread, readUpTo: Seq(9)))
        let request = try APNs.make().request(alert, providerToken: .test)
        #expect(request.header["apns-priority"] == "5")
        #expect(request.header["apns-collapse-id"] == "\(thread)")
        let expected = try json(
            """
            {"aps":{"badge":3,"content-available":1},"event":"read","thread_id":"\(thread)","read_up_to":9}
            """)
        #expect(request.json == expected)
    }

    @Test("chooses the host and the topic by the device's environment")
    func hosts() throws {
        let named = PushAlert.make(.apns(token: "aa", environment: .development, topic: "org.example.beta"))
        let request = try APNs.make().request(named, providerToken: .test)
        #expect(request.url == "https://api.sandbox.push.apple.com/3/device/aa")
        #expect(request.header["apns-topic"] == "org.example.beta")
        let elsewhere = try APNs.make(url: "https://127.0.0.1:2197")
        #expect(try elsewhere.request(named, providerToken: .test).url == "https://127.0.0.1:2197/3/device/aa")
        let topicless = try APNs.make(topic: nil)
        #expect(try topicless.request(named, providerToken: .test).header["apns-topic"] == "org.example.beta")
        #expect(throws: Unsendable.topic) {
            try topicless.request(.make(.phone), providerToken: .test)
        }
        #expect(throws: Unsendable.platform) {
            try APNs.make().request(.make(.android), providerToken: .test)
        }
    }

    @Test("never sends more than 4,096 bytes", arguments: [PushPrivacy.full, .senderOnly, .none])
    func limit(_ privacy: PushPrivacy) throws {
        let message = PushMessage.make(String(repeating: "\"ä", count: 30_000), in: "Team", privacy: privacy)
        let request = try APNs.make().request(.make(.phone, message), providerToken: .test)
        #expect(request.body.count <= 4_096)
        #expect(privacy != .full || request.body.count > 4_090)
    }

    @Test("signs in with a token that Apple can check, and uses it for 50 minutes")
    func token() throws {
        let key = P256.PrivateKey.make()
        let token = try APNs.make(key: key.pem()).providerToken(now: PushAlert.now)
        #expect(token.renewAt == PushAlert.now + 3_000)
        let (header, claims) = try parts(token.text)
        #expect(try header == json(#"{"alg":"ES256","typ":"JWT","kid":"KEY4567890"}"#))
        #expect(try claims == json(#"{"iss":"TEAM567890","iat":\#(PushAlert.now)}"#))
        #expect(try isSigned(token.text, by: key.publicKey.isValid))
        #expect(try !isSigned(token.text, by: P256.PrivateKey.make().publicKey.isValid))
    }

    @Test(
        "rejects bad keys",
        arguments: ["", "key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", HostApp.rsaTestKey])
    func keys(_ text: String) { #expect(throws: PushKeyUnreadable.self) { try APNs.make(key: text) } }
}

/// Whether the key's check accepts a token's signature.
func isSigned(_ token: String, by isValid: (_ signature: [UInt8], _ bytes: [UInt8]) -> Bool) throws -> Bool {
    let parts = token.split(separator: ".")
    try #require(parts.count == 3)
    return isValid(try #require(Base64.urlSafe.decode(parts[2])), Array("\(parts[0]).\(parts[1])".utf8))
}
