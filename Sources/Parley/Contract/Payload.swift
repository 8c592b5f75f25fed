// What messages say. Which form a payload has depends on the message's type.
import Foundation

/// The content of a message.
@nonexhaustive
public enum Payload: Sendable, Hashable {
    /// A text, attachments, or both.
    case text(TextPayload)
    /// A place.
    case location(LocationPayload)
    /// Bytes that only the apps can read.
    case encrypted(EncryptedPayload)
    /// The server reports something.
    case system(SystemPayload)
    /// Of an app's own type, or not of the form that its type has in this version of the client.
    case other(JSONValue)

    /// A text, attachments, or both.
    public static func text(_ text: String?, attachments: [Attachment] = []) -> Self {
        .text(TextPayload(text: text, attachments: attachments))
    }

    /// The text; nil if there is none.
    public var text: String? {
        switch self {
        case .text(let payload): payload.text
        case .other(let value): value["text"]?.string
        case .location, .encrypted, .system: nil
        }
    }

    /// The files of the message.
    public var attachments: [Attachment] {
        switch self {
        case .text(let payload): payload.attachments ?? []
        case .encrypted(let payload): payload.attachments ?? []
        case .location, .system, .other: []
        }
    }
}

/// The payload of `message`.
public struct TextPayload: Sendable, Hashable, Codable {
    /// Nil means none.
    public var text: String?
    /// Nil means none.
    public var attachments: [Attachment]?
    /// Keys of the app's own.
    public var other: [String: JSONValue] = [:]

    /// Makes the payload of a text.
    public init(text: String?, attachments: [Attachment] = []) {
        self.text = text
        self.attachments = attachments.isEmpty ? nil : attachments
    }
}

/// The payload of `location`.
public struct LocationPayload: Sendable, Hashable, Codable {
    /// Degrees, north of the equator.
    public var latitude: Double
    /// Degrees, east of Greenwich.
    public var longitude: Double
    /// The place is within this many metres.
    public var accuracyMetres: Double?
    /// The name of the place, for people.
    public var label: String?

    /// Makes the payload of a place.
    public init(latitude: Double, longitude: Double, accuracyMetres: Double? = nil, label: String? = nil) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracyMetres = accuracyMetres
        self.label = label
    }

    enum CodingKeys: String, CodingKey {
        case latitude, longitude, label
        case accuracyMetres = "accuracy_m"
    }
}

/// The payload of `encrypted`.
public struct EncryptedPayload: Sendable, Hashable, Codable {
    /// JSON writes it as Base64.
    public var ciphertext: Data
    /// Nil means none.
    public var attachments: [Attachment]?

    /// Makes the payload of encrypted bytes.
    public init(ciphertext: Data, attachments: [Attachment] = []) {
        self.ciphertext = ciphertext
        self.attachments = attachments.isEmpty ? nil : attachments
    }
}

/// The payload of `system`. Names are those of that time.
public struct SystemPayload: Sendable, Hashable, Codable {
    /// A person and the name at that time.
    public struct Person: Sendable, Hashable, Codable {
        /// The id of the account.
        public var id: UserID
        /// The name at that time.
        public var name: String

        /// Makes a value, for example for a preview.
        public init(id: UserID, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// What happened.
    public var action: SystemAction
    /// The person who acted.
    public var by: Person
    /// The person concerned.
    public var user: Person?
    /// With `renamed`: the new title.
    public var title: String?
    /// With `renamed`: the title before.
    public var oldTitle: String?

    /// Makes a value, for example for a preview.
    public init(
        action: SystemAction, by: Person, user: Person? = nil, title: String? = nil, oldTitle: String? = nil
    ) {
        self.action = action
        self.by = by
        self.user = user
        self.title = title
        self.oldTitle = oldTitle
    }

    enum CodingKeys: String, CodingKey {
        case action, by, user, title
        case oldTitle = "old_title"
    }
}

extension Payload: Encodable {
    /// Reads the payload of a message of this type. Nil if the field is null.
    init?(_ type: MessageType, _ fields: FieldCoder.Source, _ key: AnyKey) throws {
        func read<Content: Decodable>(_: Content.Type) throws -> Content? {
            try fields.decodeIfPresent(Content.self, forKey: key)
        }
        let payload: Payload?
        do {
            payload =
                switch type {
                case .message: try read(TextPayload.self).map { .text($0) }
                case .location: try read(LocationPayload.self).map { .location($0) }
                case .encrypted: try read(EncryptedPayload.self).map { .encrypted($0) }
                case .system: try read(SystemPayload.self).map { .system($0) }
                default: try read(JSONValue.self).map { .other($0) }
                }
        } catch is DecodingError {
            payload = try read(JSONValue.self).map { .other($0) }
        }
        guard let payload else { return nil }
        self = payload
    }

    /// A payload that this device wrote, as the outbox stores it.
    init(_ type: MessageType, stored value: JSONValue) {
        func read<Content: Decodable>(_: Content.Type) -> Content? {
            try? JSONDecoder().decode(Content.self, from: Data(value.text.utf8))
        }
        let payload: Payload? =
            switch type {
            case .message: read(TextPayload.self).map { .text($0) }
            case .location: read(LocationPayload.self).map { .location($0) }
            case .encrypted: read(EncryptedPayload.self).map { .encrypted($0) }
            default: nil
            }
        self = payload ?? .other(value)
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let payload): try payload.encode(to: encoder)
        case .location(let payload): try payload.encode(to: encoder)
        case .encrypted(let payload): try payload.encode(to: encoder)
        case .system(let payload): try payload.encode(to: encoder)
        case .other(let value): try value.encode(to: encoder)
        }
    }
}

extension TextPayload: FieldCoded {
    static var blank: Self { Self(text: nil) }

    mutating func code(_ fields: inout FieldCoder) throws {
        try fields.code(&text, "text")
        try fields.code(&attachments, "attachments")
        try fields.code(unknown: &other)
    }
}
