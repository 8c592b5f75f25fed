// The operator's code for a forgotten password: 80 random bits that people can read out. The database knows its digest.

import Cryptography

/// 16 of the letters and digits that nobody mixes up (Crockford's base 32), in groups of four: `K7QF-2M9X-…`.
package struct ResetCode: Sendable, Equatable, RedactedSecret {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let characterCount = 16
    private let characters: [UInt8]

    package static func random() -> ResetCode {
        ResetCode(characters: RandomBytes.make(count: characterCount).map { alphabet[Int($0 & 31)] })
    }

    private init(characters: [UInt8]) { self.characters = characters }

    /// Nil unless the text has the form of a code, in any case, with any hyphens and spaces, and with O, I and L for 0
    /// and 1. A mailed code has six digits and is none.
    package init?(parsing text: some StringProtocol) {
        let given = text.uppercased().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: " "): nil
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            default: byte
            }
        }
        guard given.count == Self.characterCount, given.allSatisfy(Self.alphabet.contains) else { return nil }
        characters = given
    }

    /// The text that the operator passes on, shown once.
    package var text: String {
        stride(from: 0, to: characters.count, by: 4)
            .map { String(decoding: characters[$0..<$0 + 4], as: UTF8.self) }.joined(separator: "-")
    }

    /// SHA-256. A fast hash is safe here: the code has 80 random bits, lives for a day, and few tries are allowed.
    package var digest: [UInt8] { SHA256.digest(characters) }
}
