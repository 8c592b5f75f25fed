// What the service offers, which a client reads before and after it signs in.

/// What an app may offer its user. It is the same for everyone.
public struct ServiceInfo: Sendable, Hashable, Codable {
    /// The name of the service.
    public var name: String
    /// The version of the server.
    public var version: String
    /// Who may create an account.
    public var registration: RegistrationRule
    /// The ways to sign in.
    public var signIn: [SignInWay]
    /// Whether the server sends mail.
    public var sendsMail: Bool
    /// Where alerts can be sent.
    public var push: Push
    /// Whether earlier versions of messages may be read.
    public var hasEditHistory: Bool
    /// Sizes to check before something is sent.
    public var limits: Limits

    /// The platforms that a device can register for alerts.
    public struct Push: Sendable, Hashable, Codable {
        /// Apple's service.
        public var apns: Bool
        /// Google's service.
        public var fcm: Bool
        /// Browsers, and UnifiedPush.
        public var webPush: Bool

        enum CodingKeys: String, CodingKey {
            case apns, fcm
            case webPush = "webpush"
        }
    }

    /// Sizes; bytes are those of UTF-8.
    public struct Limits: Sendable, Hashable, Codable {
        /// The text of a message.
        public var textByteCountMax: Int
        /// The payload of a message.
        public var payloadByteCountMax: Int
        /// A file.
        public var attachmentByteCountMax: Int
        /// The files of a message.
        public var attachmentCountMax: Int
        /// The title of a group or room.
        public var titleCharacterCountMax: Int

        enum CodingKeys: String, CodingKey {
            case textByteCountMax = "text_bytes"
            case payloadByteCountMax = "payload_bytes"
            case attachmentByteCountMax = "attachment_bytes"
            case attachmentCountMax = "attachments_per_message"
            case titleCharacterCountMax = "title_characters"
        }
    }

    enum CodingKeys: String, CodingKey {
        case name, version, registration, push, limits
        case signIn = "sign_in"
        case sendsMail = "mail"
        case hasEditHistory = "edit_history"
    }
}

/// Who may create an account by password or e-mail.
public struct RegistrationRule: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Everyone may.
    public static let open: Self = "open"
    /// People with an invitation may.
    public static let invited: Self = "invited"
    /// Nobody may.
    public static let closed: Self = "closed"
}

/// A way to sign in.
public struct SignInWay: StringValue {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A username and a password.
    public static let password: Self = "password"
    /// A code that is mailed.
    public static let code: Self = "code"
    /// A token of the app's own server.
    public static let token: Self = "token"
}
