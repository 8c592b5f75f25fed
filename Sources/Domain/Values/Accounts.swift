// The values of accounts and sessions: names, password, profile, preferences. All legal by construction.

/// How an account signs in and is found: 1–64 of `A–Z a–z 0–9 . _ -`, the first a letter or digit.
package struct Username: Hashable, Sendable, TextField {
    package static let characterCountMax = 64
    package let text: String

    package init(text: String) throws(Invalid) {
        let bytes = text.utf8
        guard (1...Self.characterCountMax).contains(bytes.count), let first = bytes.first, first.isAlphanumeric,
            bytes.allSatisfy({ $0.isAlphanumeric || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d })
        else {
            throw Invalid(
                "Must be 1 to \(Self.characterCountMax) of A–Z a–z 0–9 . _ -, beginning with a letter or digit.")
        }
        self.text = text
    }

    /// What must be unique, whatever the case.
    package var key: String { text.lowercased() }
}

/// What others see: one line of 1–128 characters.
package struct DisplayName: Hashable, Sendable, TextField {
    package static let characterCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
        try Self.checkNotReserved(self.text)
    }

    /// What the directory finds an account by: each word of the name, the whole name, and the username if there is one.
    package func directoryWords(with username: Username?) -> [String] {
        (text.words + [text.folded] + (username.map { [$0.key] } ?? [])).withoutRepeats
    }
}

/// A password as typed; the hasher puts it in a normal form. Never printed.
package struct Password: Sendable, TextField, CustomStringConvertible, CustomReflectable {
    package static let characterCountMin = 8
    /// So that reading one is no work to speak of beside the key derivation.
    package static let byteCountMax = 1_024
    package let text: String

    package init(text: String) throws(Invalid) {
        guard text.utf8.count <= Self.byteCountMax else {
            throw Invalid("Must have at most \(Self.byteCountMax) bytes.")
        }
        guard text.unicodeScalars.count >= Self.characterCountMin else {
            throw Invalid("Must have at least \(Self.characterCountMin) characters.")
        }
        self.text = text
    }

    package var description: String { "(password)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whom the host app means: a user's id there, as its tokens have it (`sub`). Compared byte by byte.
package struct ExternalID: Hashable, Sendable, TextField {
    package static let byteCountMax = 255
    package let text: String

    package init(text: String) throws(Invalid) {
        guard (1...Self.byteCountMax).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else {
            throw Invalid("Must have 1 to \(Self.byteCountMax) bytes and no control characters.")
        }
        self.text = text
    }
}

/// What becomes of what an erased account has said.
package enum MessagesFate: String, WordField { case keep, erase }

/// What a person calls a device.
package struct DeviceName: Hashable, Sendable, TextField {
    package static let characterCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}

package struct StatusText: Hashable, Sendable, TextField {
    package static let characterCountMax = 256
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}

/// An absolute `http` or `https` URL in the characters of RFC 3986, so with everything else percent-encoded.
package struct ImageURL: Hashable, Sendable, TextField {
    package static let byteCountMax = 2_048
    package let text: String

    package init(text: String) throws(Invalid) {
        guard text.utf8.count <= Self.byteCountMax else {
            throw Invalid("Must have at most \(Self.byteCountMax) bytes.")
        }
        guard let colon = text.firstIndex(of: ":"), ["http", "https"].contains(text[..<colon].lowercased()),
            text[colon...].hasPrefix("://"), text.utf8.allSatisfy(Self.isURLByte)
        else {
            throw Invalid("Must be an absolute http or https URL.")
        }
        let host = text[text.index(colon, offsetBy: 3)...].prefix { !"/?#:@".contains($0) }
        guard !host.isEmpty else { throw Invalid("Must be a URL with a host.") }
        self.text = text
    }

    private static func isURLByte(_ byte: UInt8) -> Bool {
        (0x21..<0x7f).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte)
    }
}

/// How an account wants to be treated. Kept as the client wrote it; each known key is checked, unknown ones are refused.
package struct Preferences: Sendable, JSONField {
    package let json: JSONValue

    package init(_ json: JSONValue) throws(Invalid) {
        var fields = try Fields(json)
        _ = fields.given("share_presence") { value throws(Invalid) in try Bool(value) }
        _ = fields.given("push") { value throws(Invalid) in try PushPrivacy(value) }
        try fields.end()
        self.json = json
    }
}
