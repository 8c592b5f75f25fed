// The titles and topics of groups and rooms.

/// One line. Its maximum length is a setting.
package struct Title: Hashable, Sendable {
    package let text: String

    package init(text: String, characterCountMax: Int) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: characterCountMax)
    }

    package init(_ json: JSONValue, characterCountMax: Int) throws(Invalid) {
        guard case .string(let text) = json else { throw Invalid("Must be a string.") }
        try self.init(text: text, characterCountMax: characterCountMax)
    }

    /// The key that makes a room's title unique.
    package var key: RoomKey { RoomKey(text) }
}

/// What a group or room is about, in one line.
package struct Topic: Hashable, Sendable, TextField {
    package static let characterCountMax = 512
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}

/// The key by which a room is found: titles that look alike name one room.
package struct RoomKey: Hashable, Sendable {
    /// An index entry of PostgreSQL holds about 2,700 bytes. Titles with longer keys name one room if their keys begin
    /// alike.
    static let byteCountMax = 2_000

    /// `comparisonKey` of the title, or of its beginning.
    package let text: String

    package init(_ title: String) {
        text = title.comparisonKey.prefix(byteCountMax: Self.byteCountMax)
    }
}

extension String {
    /// The longest beginning, in whole scalars, that has no more bytes of UTF-8.
    package func prefix(byteCountMax: Int) -> String {
        guard utf8.count > byteCountMax else { return self }
        var byteCount = 0
        let scalars = unicodeScalars.prefix { scalar in
            byteCount += UTF8.width(scalar)
            return byteCount <= byteCountMax
        }
        return String(scalars)
    }
}
