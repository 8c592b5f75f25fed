// The rules for a payload, by the message's type. The payload itself stays as the client wrote it, but for its
// attachments: only their ids count, and the database fills in the rest.

package struct MessagePayload: Sendable {
    /// Compact, an object. With attachments, its last member is `"attachments":[{"id":"…"},…]`: the database replaces
    /// exactly this text.
    package var text: JSONText
    /// The ids are in their order, without repetitions.
    package var attachments: [AttachmentID] = []

    /// A payload that was checked before.
    package init(text: JSONText, attachments: [AttachmentID] = []) {
        self.text = text
        self.attachments = attachments
    }

    /// If the type is nil, checks only that the payload is an object of a valid size.
    package init(_ json: JSONValue, as type: MessageType?, limits: Limits) throws(Invalid) {
        guard case .object(let members) = json else { throw Invalid("Must be a JSON object.") }
        switch type {
        case .message: attachments = try Self.checkMessage(json, limits: limits)
        case .location: try Self.checkLocation(json, limits: limits)
        case .encrypted: attachments = try Self.checkEncrypted(json)
        case .custom, nil: break
        }
        // For all types, because `text` is searched and shown in alerts.
        if let text = json["text"]?.string, text.utf8.count > limits.textByteCountMax {
            throw Invalid(fields: [.init("text", Self.tooLong(limits))])
        }
        text = JSONText(json)
        guard text.utf8.count <= limits.payloadByteCountMax else {
            throw Invalid("Must have at most \(limits.payloadByteCountMax) bytes as compact JSON.")
        }
        if !attachments.isEmpty {
            let ids = attachments.map { JSONValue.object([.init("id", .string($0.description))]) }
            text = JSONText(
                .object(members.filter { $0.key != "attachments" } + [.init("attachments", .array(ids))]))
        }
    }

    private static func tooLong(_ limits: Limits) -> String { "Must have at most \(limits.textByteCountMax) bytes." }

    /// A text or attachments or both, and keys of the app.
    private static func checkMessage(_ json: JSONValue, limits: Limits) throws(Invalid) -> [AttachmentID] {
        var mistakes: [Problem.Field] = []
        var attachments: [AttachmentID] = []
        do {
            attachments = try checkAttachments(json["attachments"])
        } catch {
            mistakes = error.inside("attachments").fields
        }
        // The attachments may be wrong, but they are there.
        let needsText = attachments.isEmpty && mistakes.isEmpty
        switch json["text"] {
        case .string(let text):
            if text.isEmpty, needsText { mistakes.append(.init("text", "Must not be empty.")) }
            if text.utf8.count > limits.textByteCountMax {
                mistakes.append(.init("text", tooLong(limits)))
            }
        case nil:
            if needsText { mistakes.append(.init("text", "Is required in a message without attachments.")) }
        default: mistakes.append(.init("text", "Must be a string."))
        }
        guard mistakes.isEmpty else { throw Invalid(fields: mistakes) }
        return attachments
    }

    private static func checkAttachments(_ json: JSONValue?) throws(Invalid) -> [AttachmentID] {
        guard let json else { return [] }
        let ids = try json.entries(countMax: AttachmentSizes.messageCountMax) { entry throws(Invalid) in
            var fields = try Fields(entry)
            let id = fields.required("id", AttachmentID.self)
            // What messages show of an attachment, so that a client can send it back. The database knows better.
            for name in ["name", "content_type", "size", "width", "height", "thumbhash", "thumbnail"] {
                _ = fields.given(name) { _ throws(Invalid) in }
            }
            return try fields.values(id)
        }
        guard ids.withoutRepeats.count == ids.count else { throw Invalid("Must not name an attachment twice.") }
        return ids
    }

    private static func checkLocation(_ json: JSONValue, limits: Limits) throws(Invalid) {
        var fields = try Fields(json)
        _ = fields.required("latitude") { value throws(Invalid) in try number(value, in: -90...90) }
        _ = fields.required("longitude") { value throws(Invalid) in try number(value, in: -180...180) }
        _ = fields.given("accuracy_m") { value throws(Invalid) in try number(value, in: 0...1e9) }
        _ = fields.given("label") { value throws(Invalid) in
            guard case .string(let label) = value else { throw Invalid("Must be a string.") }
            guard label.utf8.count <= limits.textByteCountMax else { throw Invalid(tooLong(limits)) }
        }
        try fields.end()
    }

    private static func number(_ json: JSONValue, in range: ClosedRange<Double>) throws(Invalid) {
        guard let value = json.double, range.contains(value) else {
            throw Invalid("Must be a number from \(shown(range.lowerBound)) to \(shown(range.upperBound)).")
        }
    }

    private static func shown(_ bound: Double) -> String { String(Int64(bound)) }

    /// Not decoded: the check is only that it is base64 (RFC 4648, with padding).
    private static func checkEncrypted(_ json: JSONValue) throws(Invalid) -> [AttachmentID] {
        var fields = try Fields(json)
        _ = fields.required("ciphertext") { value throws(Invalid) in
            guard case .string(let text) = value, isBase64(text.utf8) else {
                throw Invalid("Must be a string of base64, not empty.")
            }
        }
        let attachments = fields.given("attachments") { value throws(Invalid) in try checkAttachments(value) }
        try fields.end()
        return attachments ?? []
    }

    private static func isBase64(_ bytes: String.UTF8View) -> Bool {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 4) else { return false }
        let padding = bytes.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return bytes.dropLast(padding).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                Byte.zero...Byte.nine, UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}
