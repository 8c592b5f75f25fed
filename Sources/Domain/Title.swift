// The titles of groups and rooms.

/// One line; how long it may be is configured.
package struct Title: Hashable, Sendable {
    package let text: String

    package init(text: String, characterCountMax: Int) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: characterCountMax)
    }

    package init(_ json: JSONValue, characterCountMax: Int) throws(Invalid) {
        guard case .string(let text) = json else { throw Invalid("Must be a string.") }
        try self.init(text: text, characterCountMax: characterCountMax)
    }

    /// What makes a room's title unique: neither case nor spacing tells two rooms apart.
    package var key: String { text.folded }
}
