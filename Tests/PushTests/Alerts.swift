// Alerts and answers that the tests of this target use.
import Basics
import Cryptography
import Domain
import Foundation
import Outbound
import TestSupport

@testable import Push

extension PushTarget {
    static let phone = PushTarget.apns(token: "00fa", environment: .production, topic: nil)
    static let android = PushTarget.fcm(token: "a:b_c-d")

    static func browser(_ browser: TestBrowser, _ endpoint: String = "https://push.example/v1/x?y") -> PushTarget {
        .webPush(endpoint: endpoint, key: browser.key, secret: browser.secret)
    }
}

extension PushMessage {
    static func make(
        _ text: String? = "Hello", from sender: String = "Ann", in title: String? = nil, type: String = "message",
        privacy: PushPrivacy = .full
    ) -> PushMessage {
        PushMessage(
            thread: .make(), message: .make(), seq: Seq(7), title: title,
            senderName: sender, type: type, text: text, privacy: privacy)
    }
}

extension PushAlert {
    static let now = 1_795_305_600

    static func make(_ target: PushTarget, _ content: Content) -> PushAlert {
        PushAlert(
            id: .make(), target: target, content: content, badge: 3, attempt: 1, expiresAt: now + 86_400,
            registeredAtMs: (now - 3_600) * 1_000)
    }

    static func make(_ target: PushTarget, _ message: PushMessage = .make()) -> PushAlert {
        make(target, .message(message))
    }
}

extension ProviderToken {
    static let test = ProviderToken(text: "t.o.k", renewAt: PushAlert.now + 60)
}

extension APNs {
    static func make(
        key: String? = nil, topic: String? = "org.example.app", url: String? = nil
    ) throws -> APNs {
        let key = try key ?? P256.PrivateKey.make().pem()
        return try APNs(key: key, keyID: "KEY4567890", teamID: "TEAM567890", topic: topic, url: url)
    }
}

extension HTTPExchange {
    /// The headers by name, each name once.
    var header: [String: String] { Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) }) }

    var json: JSONValue? { try? JSONReader.read(body) }
}

/// The claims and the header of a token, unchecked.
func parts(_ token: String) throws -> (header: JSONValue, claims: JSONValue) {
    let parts = try token.split(separator: ".").prefix(2).map { part in
        try JSONReader.read(Base64.urlSafe.decode(part) ?? [])
    }
    return (parts[0], parts[1])
}

func json(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

/// A service account's file, with members changed or left out.
func testAccount(_ changes: [String: String?] = [:]) -> [UInt8] {
    var members = [
        "type": "service_account", "project_id": "my-project", "private_key_id": "k1",
        "client_email": "push@my-project.iam.example", "token_uri": "https://oauth.example/token",
        "private_key": HostApp.rsaTestKey,
    ]
    for (name, value) in changes { members[name] = value }
    return JSONText(.object(members.map { .init($0.key, .string($0.value)) })).utf8
}
