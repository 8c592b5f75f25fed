// People: their public profiles, the own account, and blocks.
import Foundation

/// A person's public profile.
public struct User: Sendable, Hashable, Codable, Identifiable {
    /// The id of the account.
    public var id: UserID
    /// It is nil for accounts that do not sign in by password.
    public var username: String?
    /// The name for people.
    public var name: String
    /// A URL, or `attachment:` and the id of an attachment.
    public var profileImage: String?
    /// What the person wrote about the present.
    public var statusText: String?
    /// The host app's own data about the person, at most 4 KiB as JSON.
    public var custom: [String: JSONValue]?
    /// It is nil where the server does not show it, and for people who do not share presence.
    public var presence: Presence?
    /// The end of the last poll or stream. Only there if `presence` is `offline`.
    public var lastSeenAt: Date?
    /// `bot` for a program. Nil for a person.
    public var kind: AccountKind?
    /// Fields that this version of the client does not know.
    public var unknown: [String: JSONValue] = [:]

    /// Makes a profile, for example for a preview.
    public init(
        id: UserID, username: String? = nil, name: String, profileImage: String? = nil, statusText: String? = nil,
        custom: [String: JSONValue]? = nil, presence: Presence? = nil, lastSeenAt: Date? = nil,
        kind: AccountKind? = nil
    ) {
        self.id = id
        self.username = username
        self.name = name
        self.profileImage = profileImage
        self.statusText = statusText
        self.custom = custom
        self.presence = presence
        self.lastSeenAt = lastSeenAt
        self.kind = kind
    }
}

extension User: FieldCoded {
    static var blank: Self { Self(id: "", name: "") }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&id, "id")
        try fields.code(&username, "username")
        try fields.code(&name, "name")
        try fields.code(&profileImage, "profile_image")
        try fields.code(&statusText, "status_text")
        try fields.code(&custom, "custom")
        try fields.code(&presence, "presence")
        try fields.code(&lastSeenAt, "last_seen_at")
        try fields.code(&kind, "kind")
        try fields.code(unknown: &unknown)
    }
}

/// The own account: the own profile and what only its owner sees.
public struct Account: Sendable, Hashable, Identifiable {
    /// The profile as others see it.
    public var user: User
    /// Choices for all devices of the account.
    public var preferences: Preferences
    /// The id that the host app gave the account. Nil without one.
    public var externalID: String?
    /// When the account was made.
    public var createdAt: Date

    public var id: UserID { user.id }

    /// Creates an account, for example for a preview.
    public init(user: User, preferences: Preferences = .init(), externalID: String? = nil, createdAt: Date) {
        self.user = user
        self.preferences = preferences
        self.externalID = externalID
        self.createdAt = createdAt
    }
}

extension Account: Codable {
    enum CodingKeys: String, CodingKey {
        case preferences
        case externalID = "external_id"
        case createdAt = "created_at"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        preferences = try fields.decode(Preferences.self, forKey: .preferences)
        externalID = try fields.decodeIfPresent(String.self, forKey: .externalID)
        createdAt = try fields.decode(Date.self, forKey: .createdAt)
        user = try User(from: decoder)
        // The profile and the account are one object: what the profile does not know is known here.
        user.unknown[CodingKeys.preferences.rawValue] = nil
        user.unknown[CodingKeys.externalID.rawValue] = nil
        user.unknown[CodingKeys.createdAt.rawValue] = nil
    }

    public func encode(to encoder: any Encoder) throws {
        try user.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(preferences, forKey: .preferences)
        try fields.encode(externalID, forKey: .externalID)
        try fields.encode(createdAt, forKey: .createdAt)
    }
}

/// Choices of the account, for all its devices. Nil is the server's default.
public struct Preferences: Sendable, Hashable, Codable {
    /// Whether others see when the user is online.
    public var sharePresence: Bool?
    /// How much alerts show.
    public var push: AlertDetail?
    /// Preferences that this version of the client does not know. The server replaces all of them together.
    public var unknown: [String: JSONValue] = [:]

    /// Makes preferences.
    public init(sharePresence: Bool? = nil, push: AlertDetail? = nil) {
        self.sharePresence = sharePresence
        self.push = push
    }
}

extension Preferences: FieldCoded {
    static var blank: Self { Self() }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&sharePresence, "share_presence")
        try fields.code(&push, "push")
        try fields.code(unknown: &unknown)
    }
}

extension Preferences {
    /// As the contract writes them.
    var json: JSONValue {
        var fields = unknown
        fields["share_presence"] = sharePresence.map { .bool($0) }
        fields["push"] = push.map { .string($0.rawValue) }
        return .object(fields)
    }
}

/// A person whom the user has blocked.
public struct Block: Sendable, Hashable, Codable {
    /// The person.
    public var user: User
    /// The time when the user blocked the person.
    public var createdAt: Date

    enum CodingKeys: String, CodingKey {
        case user
        case createdAt = "created_at"
    }
}
