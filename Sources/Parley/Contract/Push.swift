// Where alerts for this device go.
import Foundation

/// The registration of this device for alerts.
@nonexhaustive
public enum PushTarget: Sendable, Hashable {
    /// Apple's service. The token is in hexadecimal digits. A nil topic is the one that the server has configured.
    case apns(token: String, environment: Environment, topic: String? = nil)
    /// Google's service, with the registration token of the app's installation.
    case fcm(token: String)
    /// A browser or UnifiedPush. The keys are in base64url.
    case webPush(endpoint: String, p256dh: String, auth: String)
    /// A platform that this version of the client does not know.
    case other(JSONValue)

    /// Which of Apple's two services the app is signed for.
    public struct Environment: StringValue {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Apps from the App Store and from TestFlight use it.
        public static let production: Self = "production"
        /// Apps that Xcode installs use it.
        public static let development: Self = "development"
    }
}

extension PushTarget: Codable {
    private enum CodingKeys: String, CodingKey { case platform, token, environment, topic, endpoint, keys }
    private enum KeyNames: String, CodingKey { case p256dh, auth }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(String.self, forKey: .platform) {
        case "apns":
            self = .apns(
                token: try fields.decode(String.self, forKey: .token),
                environment: try fields.decode(Environment.self, forKey: .environment),
                topic: try fields.decodeIfPresent(String.self, forKey: .topic))
        case "fcm": self = .fcm(token: try fields.decode(String.self, forKey: .token))
        case "webpush":
            let keys = try fields.nestedContainer(keyedBy: KeyNames.self, forKey: .keys)
            self = .webPush(
                endpoint: try fields.decode(String.self, forKey: .endpoint),
                p256dh: try keys.decode(String.self, forKey: .p256dh),
                auth: try keys.decode(String.self, forKey: .auth))
        default: self = .other(try JSONValue(from: decoder))
        }
    }

    /// As the contract writes it.
    var json: JSONValue {
        switch self {
        case .apns(let token, let environment, let topic):
            [
                "platform": "apns", "token": .string(token), "environment": .string(environment.rawValue),
                "topic": topic.map { .string($0) } ?? .null,
            ]
        case .fcm(let token): ["platform": "fcm", "token": .string(token)]
        case .webPush(let endpoint, let p256dh, let auth):
            [
                "platform": "webpush", "endpoint": .string(endpoint),
                "keys": ["p256dh": .string(p256dh), "auth": .string(auth)],
            ]
        case .other(let value): value
        }
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// The server's public key for Web Push, a point on P-256 in base64url.
public struct WebPushKey: Sendable, Hashable, Codable {
    /// Base64 without padding: the `applicationServerKey` of a browser.
    public var publicKey: String

    enum CodingKeys: String, CodingKey { case publicKey = "public_key" }
}
