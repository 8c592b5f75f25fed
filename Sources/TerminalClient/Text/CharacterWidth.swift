// How many columns a character fills in a terminal.

extension Character {
    /// 0, 1 or 2 columns, as terminals that know grapheme clusters draw it.
    var displayWidth: Int {
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.isASCII {
            // A digit with VARIATION SELECTOR-16 is a keycap.
            return scalars.contains("\u{fe0f}") ? 2 : (0x20..<0x7f).contains(first.value) ? 1 : 0
        }
        // Flags are pairs of regional indicators. VARIATION SELECTOR-16 asks for an emoji, -15 for a text character.
        if scalars.count > 1 {
            if scalars.contains("\u{fe0f}") { return 2 }
            if first.properties.isEmojiPresentation { return scalars.contains("\u{fe0e}") ? 1 : 2 }
        }
        return scalars.lazy.map(\.displayWidth).first { $0 > 0 } ?? 0
    }
}

extension String {
    /// The columns of the text on one line.
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        if value < 0x300 { return properties.generalCategory == .control || value == 0xad ? 0 : 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if properties.isDefaultIgnorableCodePoint || (0x1160...0x11ff).contains(value) { return 0 }
        if properties.isEmojiPresentation { return (0x1f1e6...0x1f1ff).contains(value) ? 1 : 2 }
        return Self.isWide(value) ? 2 : 1
    }

    private static func isWide(_ value: UInt32) -> Bool {
        // Nearly all text is below the first wide character.
        guard value >= 0x1100 else { return false }
        return wide.contains { $0.contains(value) }
    }

    /// The classes W and F of EastAsianWidth.txt, Unicode 14.0, besides emoji; gaps of unassigned characters are filled.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf, 0x4e00...0xa4c6,
        0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfad9, 0xfe10...0xfe19, 0xfe30...0xfe6b, 0xff01...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x1b2fb, 0x1f200...0x1f265, 0x20000...0x3fffd,
    ]
}
