// What services post to an incoming hook: Parley's own shape and Slack's. Slack's is what Grafana, Alertmanager,
// GitLab and most others can send; what is not known of it is ignored.

/// A post, as the payload of a message.
package struct HookPost: Sendable {
    /// As many as Slack allows.
    package static let attachmentCountMax = 100
    package static let fieldCountMax = 100

    package let payload: MessagePayload

    /// Reads `text` and `attachments`. Unknown keys are ignored.
    package init(_ body: JSONValue, limits: Limits) throws(Invalid) {
        guard body.object != nil else { throw Invalid("Must be a JSON object.") }
        var parts: [String] = []
        if let text = try Self.text(body, "text"), !text.isEmpty { parts.append(text) }
        if let attachments = body["attachments"], attachments != .null {
            do {
                parts += try attachments.entries(countMax: Self.attachmentCountMax) { entry throws(Invalid) in
                    try Self.attachment(entry)
                }.filter { !$0.isEmpty }
            } catch {
                throw error.inside("attachments")
            }
        }
        let text = parts.map(SlackText.plain).joined(separator: "\n")
        guard !text.isEmpty else {
            throw Invalid(fields: [.init("text", "Is required, here or in one of the attachments.")])
        }
        payload = try MessagePayload(.object([.init("text", .string(text))]), as: .message, limits: limits)
    }

    /// The body of a form as Slack's senders write it: its field `payload` is the JSON. Nil without one.
    package static func formPayload(_ form: Substring) -> String? {
        for pair in form.utf8.split(separator: UInt8(ascii: "&"), maxSplits: Self.fieldCountMax) {
            guard pair.starts(with: "payload=".utf8) else { continue }
            return percentDecoded(pair.dropFirst("payload=".utf8.count))
        }
        return nil
    }

    /// Pretext, title, text and fields, a line each. Without any of them the fallback.
    private static func attachment(_ json: JSONValue) throws(Invalid) -> String {
        guard json.object != nil else { throw Invalid("Must be a JSON object.") }
        var lines: [String] = []
        if let pretext = try text(json, "pretext") { lines.append(pretext) }
        if let title = try text(json, "title"), !title.isEmpty {
            let link = try text(json, "title_link")
            lines.append(link.map { $0.isEmpty ? title : "\(title) (\($0))" } ?? title)
        }
        if let text = try text(json, "text") { lines.append(text) }
        if let fields = json["fields"], fields != .null {
            do {
                lines += try fields.entries(countMax: fieldCountMax) { entry throws(Invalid) in try field(entry) }
            } catch {
                throw error.inside("fields")
            }
        }
        lines.removeAll { $0.isEmpty }
        if lines.isEmpty { return try text(json, "fallback") ?? "" }
        return lines.joined(separator: "\n")
    }

    /// `Severity: high`.
    private static func field(_ json: JSONValue) throws(Invalid) -> String {
        guard json.object != nil else { throw Invalid("Must be a JSON object.") }
        let parts = [try text(json, "title"), try text(json, "value")].compactMap { $0 }.filter { !$0.isEmpty }
        return parts.joined(separator: ": ")
    }

    /// A text, or a number or boolean as a text: values of fields are often numbers.
    private static func text(_ json: JSONValue, _ key: String) throws(Invalid) -> String? {
        switch json[key] {
        case nil, .null: return nil
        case .string(let text): return text
        case .number(let number): return number.text
        case .bool(let value): return String(value)
        default: throw Invalid(fields: [.init(key, "Must be a string.")])
        }
    }
}
