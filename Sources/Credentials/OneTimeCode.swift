// Codes that people type from a mail.
import Cryptography

/// Six digits; each of the million codes is equally likely.
package struct OneTimeCode: Sendable, RedactedSecret {
    package static let digitCount = 6
    private static let count: UInt32 = 1_000_000

    package let text: String

    package static func random() -> OneTimeCode { OneTimeCode(number) }

    /// What a person typed, without spaces: mail programs and people insert them.
    package static func typed(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isWhitespace }))
    }

    init(_ number: UInt32) {
        let digits = String(number)
        text = String(repeating: "0", count: Self.digitCount - digits.count) + digits
    }

    /// A number above the last whole million would make small codes likelier, so it is drawn again (1 of 4,443).
    private static var number: UInt32 {
        while true {
            let drawn = RandomBytes.make(count: 4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if drawn < UInt32.max / count * count { return drawn % count }
        }
    }
}
