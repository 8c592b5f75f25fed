// Invisible characters that writing needs: joiners of scripts and emoji, selectors of variants. Elsewhere they make two
// names differ that look the same.

extension Unicode.Scalar {
    /// Whether this default-ignorable character changes how its neighbours are drawn.
    ///
    /// Joiners follow a virama, or come between two letters of scripts that join letters or stack them; the zero-width
    /// joiner also comes between two emoji. Selectors follow what has variants. The zero-width space separates words
    /// in scripts without spaces.
    func isNeeded(between previous: Unicode.Scalar, and next: Unicode.Scalar?) -> Bool {
        switch value {
        case 0x200C, 0x200D:
            if previous.properties.canonicalCombiningClass == .virama { return true }
            if previous.isOfJoiningScript, let next, next.isOfJoiningScript { return true }
            return value == 0x200D && previous.endsEmoji && next?.beginsEmoji == true
        case 0x200B: return previous.isWrittenWithoutSpaces && next?.isWrittenWithoutSpaces == true
        // The digits of keycaps are emoji only with the keycap.
        case 0xFE0F: return previous.beginsEmoji || previous.properties.isEmoji && next == "\u{20E3}"
        case 0xFE0E: return previous.beginsEmoji
        case 0xFE00...0xFE0D, 0xE0100...0xE01EF: return previous.properties.isIdeographic
        case 0x180B...0x180D, 0x180F: return previous.isMongolian
        case 0x180E: return previous.isMongolian && next?.isMongolian == true
        default: return false
        }
    }

    private var beginsEmoji: Bool { properties.isEmoji && !isASCII }

    /// An emoji, or what may end one: a skin tone is an emoji itself.
    private var endsEmoji: Bool { beginsEmoji || value == 0xFE0F }

    private var isOfJoiningScript: Bool { isLetterOrMark && Self.joiningScripts.contains { $0.contains(value) } }

    private var isMongolian: Bool { isLetterOrMark && (0x1800...0x18AF).contains(value) }

    private var isWrittenWithoutSpaces: Bool {
        isLetterOrMark && Self.scriptsWithoutSpaces.contains { $0.contains(value) }
    }

    private var isLetterOrMark: Bool {
        switch properties.generalCategory {
        case .otherLetter, .modifierLetter, .uppercaseLetter, .lowercaseLetter, .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    /// Blocks of scripts whose letters join (Arabic, Syriac, N'Ko, Mongolian, Adlam …) or stack (those of India and of
    /// South-East Asia). The standard library does not know the script of a character.
    private static let joiningScripts: [ClosedRange<UInt32>] = [
        0x0600...0x0DFF, 0x1000...0x109F, 0x1700...0x18AF, 0x1900...0x194F, 0x1A00...0x1AAF, 0x1B00...0x1C4F,
        0xA800...0xA95F, 0xA980...0xAAFF, 0xABC0...0xABFF, 0xFB50...0xFDFF, 0xFE70...0xFEFC, 0x10A00...0x10AFF,
        0x10B80...0x10BAF, 0x10D00...0x10D3F, 0x10F30...0x10FDF, 0x11000...0x11FFF, 0x16100...0x1613F,
        0x1E900...0x1E95F,
    ]

    /// Thai, Lao, Myanmar, Khmer.
    private static let scriptsWithoutSpaces: [ClosedRange<UInt32>] = [
        0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17DF, 0xA9E0...0xA9FF, 0xAA60...0xAA7F,
    ]
}
