// Addresses to mail to, in the one form in which they are stored, compared and handed to a relay.

/// An address to write to, `local@domain`. That it exists only a mail can show.
///
/// The domain is put into the form that the DNS has: lower case, other scripts as `xn--…` (RFC 5891). The local part stays as
/// it was typed, since only its server knows what is the same there: points and what stands after a + are left alone. It is
/// of ASCII letters, digits and ``!#$%&'*+-/=?^_`{|}~`` with points between (RFC 5321's Dot-string): quoted ones and those of
/// other scripts, for which every relay on the way would need SMTPUTF8 (RFC 6531), are refused.
package struct EmailAddress: Hashable, Sendable, TextField {
    /// RFC 5321, 4.5.3.1.3 less the angle brackets.
    package static let byteCountMax = 254
    /// RFC 5321, 4.5.3.1.1.
    package static let localByteCountMax = 64

    package let text: String

    package init(text: String) throws(Invalid) {
        let typed = text.trimmed
        let parts = typed.split(separator: "@", omittingEmptySubsequences: false)
        guard typed.utf8.count <= Self.byteCountMax, parts.count == 2 else { throw Self.invalid }
        let local = parts[0]
        guard local.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw Invalid("Must have only ASCII letters, digits and symbols before the @.")
        }
        guard local.utf8.count <= Self.localByteCountMax, Self.isDotString(local) else { throw Self.invalid }
        guard let domain = String(parts[1]).asciiHostName, Self.isHostName(domain) else { throw Self.invalid }
        self.text = "\(local)@\(domain)"
        guard self.text.utf8.count <= Self.byteCountMax else { throw Self.invalid }
    }

    /// What must be unique, whatever the case: few servers tell local parts apart by it, and fewer people do.
    package var key: String { text.lowercased() }

    private static let invalid = Invalid("Must be an e-mail address.")

    private static func isDotString(_ local: Substring) -> Bool {
        let atoms = local.split(separator: ".", omittingEmptySubsequences: false)
        return atoms.allSatisfy { atom in
            !atom.isEmpty && atom.utf8.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
    }

    private static func isHostName(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
        }
    }
}
