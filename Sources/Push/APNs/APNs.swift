// Apple's Push Notification service: its token and its requests. APNs+answers.swift has the meaning of its answers.
import Cryptography
import Domain
import Outbound

/// Alerts to Apple's devices, over HTTP/2 only.
package struct APNs: Sendable {
    /// Apple's limit for a payload, except for VoIP.
    static let payloadByteCountMax = 4_096
    /// Apple accepts a token for an hour, and no new one within 20 minutes.
    static let tokenLifeS = 50 * 60

    private let key: P256.PrivateKey
    private let keyID: String
    private let teamID: String
    private let topic: String?
    private let url: String?
    /// Distinguishes this key's tokens from those of other keys.
    package var tokenScope: String { "\(teamID) \(keyID)" }

    /// - Parameters:
    ///   - key: the text of a .p8 file.
    ///   - topic: the app's bundle id, for devices that name none.
    ///   - url: replaces Apple's hosts, as `https://host:port`.
    package init(key: String, keyID: String, teamID: String, topic: String?, url: String?) throws(PushKeyUnreadable) {
        guard let key = P256.PrivateKey(pem: key.trimmed) else {
            throw PushKeyUnreadable(description: "has no private key on P-256 in PEM")
        }
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
        self.topic = topic
        self.url = url
    }

    /// Creates the token that all nodes share.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: what libcrypto reports.
    package func providerToken(now: Int) throws -> ProviderToken {
        let text = try SignedToken.es256(
            key, header: [.init("kid", .string(keyID))],
            claims: [.init("iss", .string(teamID)), .init("iat", .integer(now))])
        return ProviderToken(text: text, renewAt: now + Self.tokenLifeS)
    }

    /// Costs 9 µs; 100 if the text has to be cut.
    package func request(_ alert: PushAlert, providerToken: ProviderToken) throws(Unsendable) -> HTTPExchange {
        guard case .apns(let token, let environment, let named) = alert.target else {
            throw Unsendable.platform
        }
        guard let topic = named ?? topic else { throw Unsendable.topic }
        let headers = [
            ("authorization", "bearer \(providerToken.text)"), ("apns-id", alert.id.description),
            ("apns-topic", topic), ("apns-expiration", String(alert.expiresAt)),
            ("apns-collapse-id", alert.thread.description),
            // To Apple a badge count is an alert: the type `background` must have none.
            ("apns-push-type", "alert"), ("apns-priority", alert.isSilent ? "5" : "10"),
            ("content-type", "application/json"),
        ]
        let host = environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com"
        return HTTPExchange(
            url: "\(url ?? "https://\(host)")/3/device/\(token)", headers: headers, body: Self.payload(alert),
            reach: .anywhere)
    }

    private static func payload(_ alert: PushAlert) -> [UInt8] {
        switch alert.content {
        case .message(let message):
            AlertText(message).json(byteCountMax: payloadByteCountMax) { text in
                var lines: [JSONValue.Member] = []
                if let title = text.title { lines.append(.init("title", .string(title))) }
                lines.append(.init("body", .string(text.body)))
                return .object(
                    [
                        .init(
                            "aps",
                            .object([
                                .init("alert", .object(lines)), .init("badge", .integer(alert.badge)),
                                .init("sound", .string("default")),
                                .init("thread-id", .string(message.thread.description)),
                                // The app may show more once it has fetched or decrypted the message.
                                .init("mutable-content", .integer(1)),
                            ]))
                    ] + alert.facts)
            }
        case .badge:
            JSONText(
                .object(
                    [
                        .init(
                            "aps",
                            .object([.init("badge", .integer(alert.badge)), .init("content-available", .integer(1))]))
                    ] + alert.facts)
            ).utf8
        }
    }
}
