// How a push target is read from the body of its registration.
import Basics

extension PushPlatform: WordField {}
extension PushPrivacy: WordField {}

extension PushTarget.APNsEnvironment: WordField {
    /// Apple calls one of the hosts the sandbox.
    package init(text: String) throws(Invalid) {
        guard let word = text == "sandbox" ? .development : Self(rawValue: text) else {
            throw Invalid("Must be one of: production, development.")
        }
        self = word
    }
}

/// The rules of a push registration that depend on the settings or need cryptography.
package struct PushTargetRules: Sendable {
    /// Whether Web Push endpoints may have private addresses and no TLS. For tests.
    let allowsPrivate: Bool
    /// Whether 65 bytes are a point on the P-256 curve. The caller computes it: this target has no cryptography.
    let isPoint: @Sendable ([UInt8]) -> Bool

    package init(allowsPrivate: Bool, isPoint: @escaping @Sendable ([UInt8]) -> Bool) {
        self.allowsPrivate = allowsPrivate
        self.isPoint = isPoint
    }
}

extension PushTarget {
    package init(_ body: JSONValue, _ rules: PushTargetRules) throws(Invalid) {
        var fields = try Fields(body)
        guard let platform = fields.required("platform", PushPlatform.self) else {
            // The other fields depend on this one.
            for name in ["token", "environment", "topic", "endpoint", "keys"] {
                _ = fields.given(name) { (_: JSONValue) throws(Invalid) in }
            }
            try fields.end()
            throw Invalid("Is required.")
        }
        switch platform {
        case .apns:
            let token = fields.required("token", APNsToken.self)
            let environment = fields.required("environment", APNsEnvironment.self)
            let topic = fields.optional("topic", PushTopic.self)
            let (text, place) = try fields.values(token, environment)
            self = .apns(token: text.text, environment: place, topic: topic?.text)
        case .fcm:
            let token = fields.required("token", FCMToken.self)
            self = .fcm(token: try fields.values(token).text)
        case .webpush:
            let endpoint = fields.required("endpoint") { json throws(Invalid) in
                try EndpointURL(json, allowsPrivate: rules.allowsPrivate)
            }
            let keys = fields.required("keys") { json throws(Invalid) in try WebPushKeyFields(json, rules.isPoint) }
            let (url, pair) = try fields.values(endpoint, keys)
            self = .webPush(endpoint: url.text, key: pair.key, secret: pair.secret)
        }
    }

    /// The fields as read.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [.init("platform", .string(platform.rawValue))]
        switch self {
        case .apns(let token, let environment, let topic):
            members.append(.init("token", .string(token)))
            members.append(.init("environment", .string(environment.rawValue)))
            if let topic { members.append(.init("topic", .string(topic))) }
        case .fcm(let token):
            members.append(.init("token", .string(token)))
        case .webPush(let endpoint, let key, let secret):
            members.append(.init("endpoint", .string(endpoint)))
            let keys: [JSONValue.Member] = [
                .init("p256dh", .string(Base64.urlSafe.encode(key))),
                .init("auth", .string(Base64.urlSafe.encode(secret))),
            ]
            members.append(.init("keys", .object(keys)))
        }
        return .object(members)
    }
}

/// A device's token of APNs, which is part of a request's path. 32 bytes today; Apple guarantees no length.
private struct APNsToken: TextField {
    static let digitCounts = 16...200
    let text: String

    init(text: String) throws(Invalid) {
        guard Self.digitCounts.contains(text.utf8.count), [UInt8](hexadecimal: text) != nil else {
            let (least, most) = (Self.digitCounts.lowerBound, Self.digitCounts.upperBound)
            throw Invalid("Must be the device's token: \(least) to \(most) hexadecimal digits, two for each byte.")
        }
        self.text = text
    }
}

/// An app installation's token of FCM, which is part of a request's body.
private struct FCMToken: TextField {
    static let characterCountMax = 4_096
    let text: String

    init(text: String) throws(Invalid) {
        let isToken = text.utf8.allSatisfy { $0.isAlphanumeric || "-_.:~".utf8.contains($0) }
        guard isToken, (1...Self.characterCountMax).contains(text.utf8.count) else {
            throw Invalid(
                "Must be the device's token: 1 to \(Self.characterCountMax) letters, digits, and any of -_.:~")
        }
        self.text = text
    }
}

/// The app's bundle id, perhaps with a suffix.
private struct PushTopic: TextField {
    let text: String

    init(text: String) throws(Invalid) {
        let isTopic = text.utf8.allSatisfy { $0.isAlphanumeric || "-.".utf8.contains($0) }
        guard isTopic, (1...255).contains(text.utf8.count) else { throw Invalid("Must be an app's bundle id.") }
        self.text = text
    }
}

/// `keys` of a browser's subscription in base64url. Padding and the standard alphabet are accepted as well.
private struct WebPushKeyFields {
    let key: [UInt8]
    let secret: [UInt8]

    init(_ json: JSONValue, _ isPoint: ([UInt8]) -> Bool) throws(Invalid) {
        var fields = try Fields(json)
        let key = fields.required("p256dh") { json throws(Invalid) in
            let refusal = "Must be an uncompressed point on P-256, 65 bytes in base64url."
            let key = try Self.bytes(json, count: 65, refusal)
            guard isPoint(key) else { throw Invalid(refusal) }
            return key
        }
        let secret = fields.required("auth") { json throws(Invalid) in
            try Self.bytes(json, count: 16, "Must be 16 bytes in base64url.")
        }
        (self.key, self.secret) = try fields.values(key, secret)
    }

    private static func bytes(_ json: JSONValue, count: Int, _ refusal: String) throws(Invalid) -> [UInt8] {
        guard case .string(let given) = json else { throw Invalid("Must be a string.") }
        // The longest possible padding.
        let unpadded = given.hasSuffix("==") ? given.dropLast(2) : given.hasSuffix("=") ? given.dropLast() : given[...]
        guard let bytes = Base64.urlSafe.decode(unpadded) ?? Base64.standard.decode(unpadded), bytes.count == count
        else { throw Invalid(refusal) }
        return bytes
    }
}
