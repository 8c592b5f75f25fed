// The emoji of reactions. The first scalar decides whether a text is one, because tables of all emoji age with Unicode.

/// One visible emoji: a single character, perhaps of many code points (skin tones, flags, families).
///
/// Stored in full: where a character may be shown as text or as an emoji, the selector for the emoji (U+FE0F) is added,
/// so that ❤ from one keyboard and ❤️ from another are one reaction.
package struct Emoji: Hashable, TextField, Sendable {
    /// In UTF-8. The longest in Unicode, a kiss of two people with skin tones, has 42.
    package static let byteCountMax = 64
    /// How many different emoji a message may have.
    package static let countMaxPerMessage = 20

    package let text: String

    package init(text: String) throws(Invalid) {
        let full = Self.spelledInFull(text)
        guard full.utf8.count <= Self.byteCountMax, full.count == 1, Self.isEmoji(full.unicodeScalars) else {
            throw Invalid("Must be one emoji.")
        }
        self.text = full
    }

    /// Reads a segment of a path.
    package init(percentEncoded segment: Substring) throws(Invalid) {
        guard let text = percentDecoded(segment.utf8, plusIsSpace: false) else {
            throw Invalid("Must be valid percent-encoded UTF-8.")
        }
        try self.init(text: text)
    }

    /// Symbols that this Swift does not know are accepted: they may be emoji in the next Unicode.
    private static func isEmoji(_ scalars: String.UnicodeScalarView) -> Bool {
        guard let first = scalars.first else { return false }
        // Digits, # and * are emoji only as keycaps.
        if first.isASCII { return scalars.last == keycap && scalars.count > 1 && first.properties.isEmoji }
        switch first.properties.generalCategory {
        case .otherSymbol, .mathSymbol, .unassigned: return true
        default: return first.properties.isEmoji
        }
    }

    private static func spelledInFull(_ text: String) -> String {
        // A longer text is refused in any case.
        guard text.utf8.count <= byteCountMax else { return text }
        var full = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where scalar != asText {
            if let last = full.last, last.mayBeText, scalar != asEmoji, !scalar.properties.isEmojiModifier {
                full.append(asEmoji)
            }
            // A second selector, or one after a character that is always an emoji, is not another character.
            if scalar == asEmoji, full.last?.mayBeText != true { continue }
            full.append(scalar)
        }
        if let last = full.last, last.mayBeText { full.append(asEmoji) }
        return String(full)
    }

    private static let asText: Unicode.Scalar = "\u{FE0E}"
    private static let asEmoji: Unicode.Scalar = "\u{FE0F}"
    private static let keycap: Unicode.Scalar = "\u{20E3}"
}

extension Unicode.Scalar {
    fileprivate var mayBeText: Bool { properties.isEmoji && !properties.isEmojiPresentation }
}
