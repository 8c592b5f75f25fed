// Which characters count as emoji, and which spellings are the same emoji.
import Domain
import Testing

@Suite("Emoji", .timeLimit(.minutes(1)))
struct Emojis {
    @Test(
        "are single characters, however many code points one is of",
        arguments: ["👍", "👍🏽", "❤️", "🇨🇭", "1️⃣", "#️⃣", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👩🏽‍❤️‍💋‍👨🏾", "‼️", "©️", "✓", "\u{1FAFF}"])
    func takes(_ text: String) throws {
        #expect(try Emoji(text: text).text == text)
    }

    @Test(
        "are not letters, words, two at once, spaces or controls",
        arguments: [
            "", "a", "é", "1", "#", "+1", ":smile:", "👍👍", "👍 ", " ", "\n", "\u{200D}", "\u{FE0F}", "日", "1\u{FE0F}",
            "a\u{20E3}", "\u{20E3}", "👍" + String(repeating: "\u{300}", count: 40),
            String(repeating: "👍", count: 10_000),
        ])
    func refuses(_ text: String) {
        #expect(throws: Invalid.self) { try Emoji(text: text) }
    }

    @Test(
        "are the same whether or not a spelling asks for the emoji",
        arguments: [
            ("❤", "❤️"), ("❤\u{FE0E}", "❤️"), ("❤️\u{FE0F}", "❤️"), ("❤\u{200D}🔥", "❤️‍🔥"), ("1\u{20E3}", "1️⃣"),
            ("👍\u{FE0F}", "👍"),
            ("☝🏽", "☝🏽"), ("👁\u{200D}🗨", "👁️‍🗨️"),
        ])
    func spellsInFull(_ given: String, _ full: String) throws {
        #expect(Array(try Emoji(text: given).text.unicodeScalars) == Array(full.unicodeScalars))
    }

    @Test("are percent-encoded in a path, where + is itself")
    func decodes() throws {
        #expect(try Emoji(percentEncoded: "%F0%9F%91%8D").text == "👍")
        #expect(try Emoji(percentEncoded: "%e2%9d%a4").text == "❤️")
        #expect(try Emoji(percentEncoded: "👍").text == "👍")
        for segment in ["", "%F0%9F", "%F0%9F%91%8", "%zz", "%00", "+", "%2B", "%20"] {
            #expect(throws: Invalid.self) { try Emoji(percentEncoded: Substring(segment)) }
        }
    }
}
