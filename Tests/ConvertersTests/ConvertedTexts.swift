// Texts, emoji, times and ids of other systems.
import Foundation
import Testing

@testable import Converters
@testable import Domain

@Suite("Texts of other systems", .timeLimit(.minutes(1)))
struct ConvertedTexts {
    @Test("have ids by RFC 9562, A.4")
    func identifiers() throws {
        let names = try #require(UUID(uuidString: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        #expect(SourceIDs.uuid(names, "www.example.com") == UUID(uuidString: "2ed6657d-e927-568b-95e1-2665a8aea6a2"))
    }

    @Test(
        "have known emoji by name",
        arguments: [
            ("+1", "👍"), (":tada:", "🎉"), ("wave::skin-tone-3", "👋🏼"), ("flag-de", "🇩🇪"), ("heart", "❤️"),
            ("thumbsup_dark_skin_tone", "👍🏿"), ("👍", "👍"), ("our_logo", nil), ("", nil),
        ])
    func emoji(name: String, expected: String?) {
        #expect(EmojiText.emoji(named: name)?.text == expected)
    }

    @Test(
        "have emoji by code points", arguments: [("1f44d", "👍"), ("1f468-200d-1f4bb", "👨‍💻"), ("zulip", nil), ("", nil)])
    func codePoints(code: String, expected: String?) {
        #expect(EmojiText.emoji(codePoints: code)?.text == expected)
    }

    @Test("have only emoji in the table of names")
    func table() {
        let words = EmojiNames.table.split(whereSeparator: \.isWhitespace)
        #expect(words.count.isMultiple(of: 2))
        for (index, word) in words.enumerated() where index % 2 == 1 {
            #expect((try? Emoji(text: String(word))) != nil, "\(words[index - 1]) \(word)")
        }
    }

    @Test(
        "have emoji in place of names, but not in code",
        arguments: [
            ("a :tada: b", "a 🎉 b"), ("`:tada:`", "`:tada:`"), ("10:30:45", "10:30:45"), (":nope: :+1:", ":nope: 👍"),
        ])
    func names(text: String, expected: String) {
        #expect(EmojiText.replacingNames(in: text) == expected)
    }

    @Test("of Zulip lose marks of mentions and links to files")
    func zulip() {
        let text = ZulipText.parsed(
            "@**Ann Lee|7** and @_**Bob**, #**ops>alerts**, ![p](/user_uploads/2/a/p.png) [x](/y) @ [")
        #expect(text.text == "@Ann Lee and @Bob, #ops > alerts, p [x](/y) @ [")
        #expect(text.people == ["Ann Lee|7"])
        #expect(text.uploads == ["2/a/p.png"])
    }

    @Test("of Matrix lose the quotation that replies begin with")
    func matrix() throws {
        let content = JSONValue.object([
            .init("msgtype", .string("m.text")), .init("body", .string("> <@a:b> one\n> two\n\nthree")),
        ])
        #expect(MatrixText.plain(content, isReply: true) == "three")
        #expect(MatrixText.plain(content, isReply: false).hasPrefix("> <@a:b>"))
    }

    @Test("are cut at spaces, and nothing is lost", arguments: [10, 16, 100])
    func parts(byteCountMax: Int) {
        let text = String(repeating: "lorem ipsüm 👨‍👩‍👧‍👦 ", count: 40)
        let parts = TextParts.split(text, byteCountMax: max(byteCountMax, 26))
        #expect(parts.joined() == text)
        #expect(parts.allSatisfy { $0.utf8.count <= max(byteCountMax, 26) + 1 })
    }

    @Test(
        "have times to the microsecond",
        arguments: [
            ("1355517523.000005", 1_355_517_523_000_005), ("1700000100", 1_700_000_100_000_000),
            ("1.5e3", 1_500_000_000),
            ("-1", nil), ("soon", nil), ("", nil),
        ] as [(String, Int64?)])
    func times(text: String, expected: Int64?) {
        #expect(Timestamp(decimalSeconds: text)?.microsSince1970 == expected)
    }
}
