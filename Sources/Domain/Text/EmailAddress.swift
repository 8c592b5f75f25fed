// E-mail addresses in the one form in which they are stored, compared and passed to a relay.

/// An address to write to, `local@domain`. Only a mail can show that it exists.
///
/// The domain is written as in the DNS: lower case, other scripts as `xn--…` (RFC 5891). The local part stays as typed,
/// because only its server knows which spellings are equal: dots and text after a + are kept. It has ASCII letters,
/// digits and ``!#$%&'*+-/=?^_`{|}~`` with dots between (RFC 5321's Dot-string). Quoted local parts are refused, and
/// those in other scripts, for which every relay would need SMTPUTF8 (RFC 6531).
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

    /// The form that must be unique, whatever the case: few servers distinguish local parts by case, and fewer people
    /// do.
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
