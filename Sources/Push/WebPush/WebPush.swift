// Web Push and UnifiedPush (RFC 8030): requests to the server that a client named. WebPush+answers.swift has the
// meaning of the answers.
import Basics
import Domain
import Outbound

/// Alerts to browsers and UnifiedPush distributors.
package struct WebPush: Sendable {
    /// The life of a token for one origin. RFC 8292 allows 24 hours, and clocks differ.
    private static let tokenLifeS = 12 * 3_600

    private let keys: VAPIDKeyPair
    private let subject: String

    /// - Parameter subject: how a push service reaches the operator: `mailto:…` or `https://…`.
    package init(keys: VAPIDKeyPair, subject: String) {
        self.keys = keys
        self.subject = subject
    }

    /// Costs 160 µs: a key pair, a key agreement and a signature for each request. Cutting the text costs 100 µs more.
    ///
    /// - Parameter now: seconds since 1970.
    package func request(_ alert: PushAlert, now: Int) throws(Unsendable) -> HTTPExchange {
        guard case .webPush(let endpoint, let key, let secret) = alert.target else {
            throw Unsendable.platform
        }
        guard let keys = WebPushKeys(key: key, secret: secret) else { throw Unsendable.keys }
        guard let origin = Origin(url: endpoint) else { throw Unsendable.endpoint }
        let body: [UInt8]
        let authorization: String
        do {
            body = try keys.encrypt(Self.payload(alert))
            authorization = try self.authorization(origin, now: now)
        } catch {
            throw Unsendable.encryption
        }
        return HTTPExchange(
            url: endpoint,
            headers: [
                ("authorization", authorization), ("content-encoding", "aes128gcm"),
                ("content-type", "application/octet-stream"), ("ttl", String(alert.timeToLive(now: now))),
                // 22 characters of base64url; 32 are allowed.
                ("topic", Base64.urlSafe.encode(alert.thread.bytes)),
                ("urgency", alert.isSilent ? "normal" : "high"),
            ], body: body, reach: .publicOnly)
    }

    func authorization(_ origin: Origin, now: Int) throws -> String {
        let token = try SignedToken.es256(
            keys.key,
            claims: [
                .init("aud", .string(origin.text)), .init("exp", .integer(now + Self.tokenLifeS)),
                .init("sub", .string(subject)),
            ])
        return "vapid t=\(token), k=\(keys.publicText)"
    }

    static func payload(_ alert: PushAlert) -> [UInt8] {
        let facts = alert.facts + [.init("badge", .integer(alert.badge))]
        guard case .message(let message) = alert.content else { return JSONText(.object(facts)).utf8 }
        return AlertText(message).json(byteCountMax: WebPushKeys.plaintextByteCountMax) { text in
            var members = facts
            if let title = text.title { members.append(.init("title", .string(title))) }
            members.append(.init("body", .string(text.body)))
            return .object(members)
        }
    }
}

extension ThreadID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid.uuid) { Array($0) } }
}
