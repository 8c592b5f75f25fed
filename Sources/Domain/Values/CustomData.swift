// The host app's own data on users, threads and a member's settings: an object that Parley never looks into, and labels.

/// A JSON object of the host app.
package struct CustomData: Sendable, JSONField {
    /// The size of the compact JSON in UTF-8.
    package static let byteCountMax = 4 * 1024
    package let json: JSONValue

    package init(_ json: JSONValue) throws(Invalid) {
        guard case .object = json else { throw Invalid("Must be a JSON object.") }
        guard JSONText(json).utf8.count <= Self.byteCountMax else {
            throw Invalid("Must have at most \(Self.byteCountMax) bytes as compact JSON.")
        }
        self.json = json
    }

    /// The text that is stored.
    package var text: String { JSONText(json).string }
}

/// One of the host app's labels. Labels are compared byte for byte.
package struct Label: Sendable, TextField {
    package static let characterCountMax = 64
    package let text: String

    package init(text: String) throws(Invalid) {
        guard (1...Self.characterCountMax).contains(text.unicodeScalars.count) else {
            throw Invalid("Must have 1 to \(Self.characterCountMax) characters.")
        }
        self.text = text
    }
}

/// The labels of a thread, or of a member's settings, in the order that the app gave them.
package struct Labels: Sendable, JSONField {
    package static let countMax = 8
    package let texts: [String]

    package init(_ json: JSONValue) throws(Invalid) {
        let labels = try json.entries(countMax: Self.countMax) { label throws(Invalid) in try Label(label) }
        var seen: Set<[UInt8]> = []
        for (index, label) in labels.enumerated() where !seen.insert(Array(label.text.utf8)).inserted {
            throw Invalid(fields: [Problem.Field("[\(index)]", "Is in the list already.")])
        }
        texts = labels.map(\.text)
    }

    package var json: JSONValue { .array(texts.map(JSONValue.string)) }
}

/// The `custom` and `labels` of a request. A field that is left out stays as it is. Null removes it.
package struct AppData: Sendable {
    package var custom: CustomData??
    package var labels: Labels??

    /// Changes nothing.
    package init() {}

    /// Reads both fields. The caller calls `end`.
    package init(_ fields: inout Fields<JSONValue>) {
        custom = fields.given("custom") { json throws(Invalid) in try CustomData?(json) }
        labels = fields.given("labels") { json throws(Invalid) in try Labels?(json) }
    }

    /// The fields to change.
    package var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let custom { members.append(.init("custom", custom?.json ?? .null)) }
        if let labels { members.append(.init("labels", labels?.json ?? .null)) }
        return members
    }
}
