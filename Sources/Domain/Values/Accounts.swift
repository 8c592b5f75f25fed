// The values of accounts and sessions: names, password, profile, preferences. A value that exists is valid.

/// The name by which an account signs in and is found: 1–64 of `A–Z a–z 0–9 . _ -`, the first a letter or digit.
package struct Username: Hashable, Sendable, TextField {
    package static let characterCountMax = 64
    package let text: String

    package init(text: String) throws(Invalid) {
        let bytes = text.utf8
        guard (1...Self.characterCountMax).contains(bytes.count), let first = bytes.first, first.isAlphanumeric,
            bytes.allSatisfy({ $0.isAlphanumeric || $0 == 0x2e || $0 == 0x5f || $0 == 0x2d })
        else {
            throw Invalid(
                "Must be 1 to \(Self.characterCountMax) letters (A–Z, a–z), digits, dots, underscores or hyphens, "
                    + "beginning with a letter or digit.")
        }
        self.text = text
    }

    /// The form that must be unique, whatever the case.
    package var key: String { text.lowercased() }
}

/// By what a person who signs in with a password is found. It may be no account's.
package enum SignInName: Sendable {
    /// As typed: any text.
    case username(String)
    case email(EmailAddress)

    /// The folded name. No username has the form of an address, so the two never meet.
    package var key: String {
        switch self {
        case .username(let text): text.lowercased()
        case .email(let address): address.key
        }
    }

    /// The key of the username, or a text that no account has if it cannot be one; nil for an address.
    package var usernameKey: String? {
        if case .username(let text) = self { (try? Username(text: text))?.key ?? "-" } else { nil }
    }

    /// It is nil for a username.
    package var emailKey: String? { if case .email(let address) = self { address.key } else { nil } }
}

/// The name that others see: one line of 1–128 characters.
package struct DisplayName: Hashable, Sendable, TextField {
    package static let characterCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
        try Self.checkNotReserved(self.text)
    }

    /// The keys by which the directory finds an account: each word of the name, the whole name, and the username if
    /// any.
    package func directoryWords(with username: Username?) -> [String] {
        (text.words + [text.folded] + (username.map { [$0.key] } ?? [])).withoutRepeats
    }
}

/// A password as typed. The hasher normalizes it. Never printed.
package struct Password: Sendable, TextField, CustomStringConvertible, CustomReflectable {
    package static let characterCountMin = 8
    /// So that reading a password costs little compared with deriving its key.
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

/// The host app's own id of a user or thread. A user's is `sub` of its tokens. Compared byte by byte.
package struct ExternalID: Hashable, Sendable, TextField {
    /// Unicode scalars.
    package static let scalarCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        let scalars = text.unicodeScalars
        guard (1...Self.scalarCountMax).contains(scalars.count),
            scalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw Invalid("Must have 1 to \(Self.scalarCountMax) characters and no control characters.")
        }
        self.text = text
    }

    // Swift compares strings by their canonical form, which would make two ids of the host app one.
    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

/// A user or thread as admin calls name it: by its id, or by `ext:` and the host app's own id.
package enum Reference<Kind>: Hashable, Sendable, TextField {
    case id(Identifier<Kind>)
    case external(ExternalID)

    package init(text: String) throws(Invalid) {
        let prefix = "ext:"
        if text.hasPrefix(prefix) {
            self = .external(try ExternalID(text: String(text.dropFirst(prefix.count))))
        } else if let id = Identifier<Kind>(parsing: text) {
            self = .id(id)
        } else {
            throw Invalid("Must be a UUID, or ext: and an external id.")
        }
    }
}

package typealias UserReference = Reference<UserKind>
package typealias ThreadReference = Reference<ThreadKindTag>

/// Whether an account is a person's or a program's.
package enum AccountKind: String, WordField { case person, bot }

/// Whether the messages of an erased account are kept or erased.
package enum MessagesFate: String, WordField { case keep, erase }

/// The name of a device.
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

/// An absolute `http` or `https` URL in the characters of RFC 3986; all others must be percent-encoded.
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

/// The picture of a profile or thread: a URL, or an uploaded one as `attachment:` and its id.
package struct Picture: Hashable, Sendable, TextField {
    package let text: String

    package init(text: String) throws(Invalid) {
        let scheme = "attachment:"
        guard text.hasPrefix(scheme) else {
            self.text = try ImageURL(text: text).text
            return
        }
        guard let id = AttachmentID(parsing: text.dropFirst(scheme.utf8.count)) else {
            throw Invalid("Must be an http or https URL, or attachment: and the id of an uploaded picture.")
        }
        self.text = scheme + id.description
    }
}

/// An account's preferences, stored as the client wrote them. Known keys are checked, unknown keys are refused.
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
