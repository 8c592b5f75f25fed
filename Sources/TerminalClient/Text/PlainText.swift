// Text of other people, made harmless for a terminal.
import Foundation

/// Removes everything from a text that a terminal could obey, and everything that could make a text look like another.
enum PlainText {
    /// Text that takes more than this per character is cut: marks can be piled up without a limit.
    private static let scalarCountMax = 12

    /// A text in one line: names, titles, file names. Line breaks become spaces.
    static func line(_ text: String) -> String { clean(text, lineBreak: " ") }

    /// The same, without spaces at both ends: two names must not differ by what nobody sees.
    static func name(_ text: String) -> String { line(text).trimmingCharacters(in: .whitespaces) }

    /// A text of several lines, which end with `\n`.
    static func lines(_ text: String) -> String { clean(text, lineBreak: "\n") }

    /// The first lines and characters of a text of somebody else: a message may have 16,384 lines.
    static func beginning(_ text: String, lineCountMax: Int = 200, characterCountMax: Int = 4_000) -> Substring {
        var (lineCount, characterCount) = (1, 0)
        for (index, character) in zip(text.indices, text) {
            if character.isNewline { lineCount += 1 }
            characterCount += 1
            if lineCount > lineCountMax || characterCount > characterCountMax { return text[..<index] }
        }
        return text[...]
    }

    /// A web address that may be in a hyperlink (OSC 8); nil if it has other characters than an address has.
    static func link(_ address: String) -> String? {
        guard address.hasPrefix("http://") || address.hasPrefix("https://"), address.utf8.count <= 2_048,
            address.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ";") })
        else { return nil }
        return address
    }

    private static func clean(_ text: String, lineBreak: Unicode.Scalar) -> String {
        var cleaned = String.UnicodeScalarView()
        for character in text.replacing("\r\n", with: "\n") {
            for scalar in character.unicodeScalars.prefix(scalarCountMax) {
                append(scalar, lineBreak: lineBreak, to: &cleaned)
            }
        }
        return String(cleaned)
    }

    private static func append(
        _ scalar: Unicode.Scalar, lineBreak: Unicode.Scalar, to cleaned: inout String.UnicodeScalarView
    ) {
        switch scalar.value {
        case 0x0a, 0x0d, 0x85, 0x2028, 0x2029: cleaned.append(lineBreak)
        case 0x09: cleaned.append(contentsOf: "    ".unicodeScalars)
        // The pictures of control characters: ESC is shown as ␛.
        case 0x00...0x1f: cleaned.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{fffd}")
        case 0x7f: cleaned.append("\u{2421}")
        case 0x80...0x9f: cleaned.append("\u{fffd}")
        // Directions: they would reorder what follows. Invisible characters and tags: they would make equal names differ.
        case 0x061c, 0x200b, 0x200e, 0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb, 0x180e,
            0xe0000...0xe007f:
            break
        default:
            switch scalar.properties.generalCategory {
            // Private characters are a terminal's own, such as kitty's places of pictures.
            case .privateUse, .surrogate: cleaned.append("\u{fffd}")
            case .unassigned where scalar.properties.isNoncharacterCodePoint: cleaned.append("\u{fffd}")
            default: cleaned.append(scalar)
            }
        }
    }
}
