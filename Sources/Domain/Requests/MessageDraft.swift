// A message as a client sends it, checked. MessagePayload.swift has the rules for each type's payload.

/// The parts of a new message that a client may set.
package struct MessageDraft: Sendable {
    package static let mentionCountMax = 100

    /// Chosen by the client, or made here.
    package var id: MessageID
    package var type: MessageType
    package var payload: MessagePayload
    package var replyTo: MessageID?
    /// The ids are in the given order, without repetitions.
    package var mentions: [UserID]
    package var expires: KeptTime?

    package init(
        id: MessageID, type: MessageType, payload: MessagePayload, replyTo: MessageID?, mentions: [UserID] = [],
        expires: KeptTime?
    ) {
        self.id = id
        self.type = type
        self.payload = payload
        self.replyTo = replyTo
        self.mentions = mentions
        self.expires = expires
    }

    package init(_ body: JSONValue, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let id = fields.optional("id", MessageID.self)
        let type = fields.optional("type", MessageType.self)
        let isTypeLeftOut = body["type"] == nil || body["type"] == .null
        let payload = fields.required("payload") { json throws(Invalid) in
            // With a wrong type there are no rules to check the payload by.
            try MessagePayload(json, as: isTypeLeftOut ? .message : type, limits: limits)
        }
        let replyTo = fields.optional("reply_to", MessageID.self)
        let mentions = fields.optional("mentions") { json throws(Invalid) in
            try json.entries(countMax: Self.mentionCountMax) { user throws(Invalid) in try UserID(user) }
        }
        let expires = fields.optional("expires_in_s", KeptTime.self)
        self.payload = try fields.values(payload)
        self.id = id ?? .make()
        self.type = type ?? .message
        self.replyTo = replyTo
        self.mentions = mentions?.withoutRepeats ?? []
        self.expires = expires
    }
}

/// The parts of a message that a client may change.
package struct MessageEdit: Sendable {
    package var payload: MessagePayload

    /// - Parameter type: the message's type, which cannot change.
    package init(_ body: JSONValue, type: MessageType, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let payload = fields.required("payload") { json throws(Invalid) in
            try MessagePayload(json, as: type, limits: limits)
        }
        self.payload = try fields.values(payload)
    }
}

/// How a payload is to be read.
package enum MessageType: Hashable, Sendable {
    case message
    case location
    case encrypted
    /// A type of the app: `x-` and more.
    case custom(String)

    package static let customByteCountMax = 62

    package var text: String {
        switch self {
        case .message: "message"
        case .location: "location"
        case .encrypted: "encrypted"
        case .custom(let name): "x-" + name
        }
    }
}

extension MessageType: TextField {
    package init(text: String) throws(Invalid) {
        switch text {
        case "message": self = .message
        case "location": self = .location
        case "encrypted": self = .encrypted
        case "system": throw Invalid("Must not be system: only the service creates system messages.")
        default:
            let name = text.dropFirst(2)
            guard text.hasPrefix("x-"), (1...Self.customByteCountMax).contains(name.utf8.count),
                name.utf8.allSatisfy(Self.isNameByte)
            else {
                throw Invalid(
                    "Must be message, location, encrypted, or x- followed by 1 to \(Self.customByteCountMax) letters "
                        + "(a–z), digits, dots, underscores or hyphens.")
            }
            self = .custom(String(name))
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), Byte.zero...Byte.nine, UInt8(ascii: "."), UInt8(ascii: "_"),
            Byte.minus:
            true
        default: false
        }
    }
}
