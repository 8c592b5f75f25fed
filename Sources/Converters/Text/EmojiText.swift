// Emoji that are written as names, such as `:tada:`: as reactions and within texts.
import Domain

enum EmojiText {
    private static let known: [Substring: String] = {
        let words = EmojiNames.table.split(whereSeparator: \.isWhitespace)
        let pairs = stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], String(words[$0 + 1])) }
        return Dictionary(pairs) { first, _ in first }
    }()

    private static let tones: [Substring: String] = [
        "skin-tone-2": "\u{1F3FB}", "skin-tone-3": "\u{1F3FC}", "skin-tone-4": "\u{1F3FD}", "skin-tone-5": "\u{1F3FE}",
        "skin-tone-6": "\u{1F3FF}", "_light_skin_tone": "\u{1F3FB}", "_medium_light_skin_tone": "\u{1F3FC}",
        "_medium_skin_tone": "\u{1F3FD}", "_medium_dark_skin_tone": "\u{1F3FE}", "_dark_skin_tone": "\u{1F3FF}",
    ]

    /// The emoji of a reaction by its name, with or without colons: `tada`, `:tada:`, `wave::skin-tone-3`,
    /// `flag-de`, or the emoji itself. Nil for names of a single workspace, and for rare ones.
    static func emoji(named name: String) -> Emoji? {
        let bare = name.drop { $0 == ":" }
        return unicode(bare.hasSuffix(":") ? bare.dropLast() : bare).flatMap { try? Emoji(text: $0) }
            ?? (try? Emoji(text: name))
    }

    /// The emoji by code points, as Zulip writes them: `1f44d-1f3fd`.
    static func emoji(codePoints: String) -> Emoji? {
        let scalars = codePoints.split(separator: "-").map { UInt32($0, radix: 16).flatMap(Unicode.Scalar.init) }
        guard !scalars.isEmpty, !scalars.contains(nil) else { return nil }
        return try? Emoji(text: String(String.UnicodeScalarView(scalars.compactMap { $0 })))
    }

    private static func unicode(_ name: Substring) -> String? {
        if let emoji = known[name] { return emoji }
        if let parts = name.firstRange(of: "::"), let base = known[name[..<parts.lowerBound]] {
            return tones[name[parts.upperBound...]].map { toned(base, $0) }
        }
        if let flag = flag(name) { return flag }
        // The longest ending first: `_light_skin_tone` ends `_medium_light_skin_tone`.
        for (ending, tone) in tones.sorted(by: { $0.key.count > $1.key.count }) where name.hasSuffix(ending) {
            if let base = known[name.dropLast(ending.count)] { return toned(base, tone) }
        }
        return nil
    }

    /// The tone follows the first code point.
    private static func toned(_ emoji: String, _ tone: String) -> String {
        let rest = emoji.unicodeScalars.dropFirst().drop { $0 == "\u{FE0F}" }
        return String(String.UnicodeScalarView(emoji.unicodeScalars.prefix(1))) + tone
            + String(String.UnicodeScalarView(rest))
    }

    /// `flag-de`, `flag_de`.
    private static func flag(_ name: Substring) -> String? {
        guard name.hasPrefix("flag-") || name.hasPrefix("flag_"), name.utf8.count == 7 else { return nil }
        let letters = name.utf8.suffix(2).compactMap { byte -> Unicode.Scalar? in
            (0x61...0x7a).contains(byte) ? Unicode.Scalar(0x1F1E6 + UInt32(byte) - 0x61) : nil
        }
        return letters.count == 2 ? String(String.UnicodeScalarView(letters)) : nil
    }

    /// The text with emoji in place of known names. Text between backticks stays as it is.
    static func replacingNames(in text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return text }
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0.offset % 2 == 0 ? replaced($0.element) : String($0.element) }
            .joined(separator: "`")
    }

    private static func replaced(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let start = rest.firstIndex(of: ":") {
            result += rest[..<start]
            rest = rest[rest.index(after: start)...]
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "_+-".contains($0)) }
            guard !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == ":", var emoji = unicode(name)
            else {
                result += ":"
                continue
            }
            rest = rest[rest.index(after: name.endIndex)...]
            let tone = rest.dropFirst().prefix { $0 != ":" }
            if rest.first == ":", let selector = tones[tone], tone.endIndex < rest.endIndex {
                emoji = toned(emoji, selector)
                rest = rest[rest.index(after: tone.endIndex)...]
            }
            result += emoji
        }
        return result + rest
    }
}
