// The rules for a payload, by the message's type. The payload itself stays as the client wrote it.

enum MessagePayload {
    /// Returns the payload as compact text. If the type is nil, checks only that it is an object of a valid size.
    static func checked(_ json: JSONValue, as type: MessageType?, limits: Limits) throws(Invalid) -> JSONText {
        guard case .object = json else { throw Invalid("Must be a JSON object.") }
        switch type {
        case .message: try checkMessage(json, limits: limits)
        case .location: try checkLocation(json, limits: limits)
        case .encrypted: try checkEncrypted(json)
        case .custom, nil: break
        }
        // For all types, because `text` is searched and shown in alerts.
        if let text = json["text"]?.string, text.utf8.count > limits.textByteCountMax {
            throw Invalid(fields: [.init("text", tooLong(limits))])
        }
        let text = JSONText(json)
        guard text.utf8.count <= limits.payloadByteCountMax else {
            throw Invalid("Must have at most \(limits.payloadByteCountMax) bytes as compact JSON.")
        }
        return text
    }

    private static func tooLong(_ limits: Limits) -> String { "Must have at most \(limits.textByteCountMax) bytes." }

    /// A text, and keys of the app.
    private static func checkMessage(_ json: JSONValue, limits: Limits) throws(Invalid) {
        var mistakes: [Problem.Field] = []
        switch json["text"] {
        case .string(let text):
            if text.isEmpty { mistakes.append(.init("text", "Must not be empty.")) }
            if text.utf8.count > limits.textByteCountMax {
                mistakes.append(.init("text", tooLong(limits)))
            }
        case nil: mistakes.append(.init("text", "Is required."))
        default: mistakes.append(.init("text", "Must be a string."))
        }
        switch json["attachments"] {
        case nil, .array([]): break
        case .array: mistakes.append(.init("attachments", "There is no such attachment."))
        default: mistakes.append(.init("attachments", "Must be an array."))
        }
        guard mistakes.isEmpty else { throw Invalid(fields: mistakes) }
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
    private static func checkEncrypted(_ json: JSONValue) throws(Invalid) {
        var fields = try Fields(json)
        _ = fields.required("ciphertext") { value throws(Invalid) in
            guard case .string(let text) = value, isBase64(text.utf8) else {
                throw Invalid("Must be a string of base64, not empty.")
            }
        }
        try fields.end()
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
