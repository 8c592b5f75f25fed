// Widths, lines, and text of strangers.
import TestBasics
import Testing

@testable import TerminalClient

@Suite("Text in columns", .timeLimit(.minutes(1)))
struct MeasuringText {
    @Test(
        "knows how many columns a character fills",
        arguments: [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("👍", 2), ("👍🏽", 2), ("👩‍👩‍👧‍👦", 2),
            ("🇩🇪", 2), ("❤", 1), ("❤️", 2), ("1️⃣", 2), ("☺︎", 1), ("\u{200b}", 0), ("\u{301}", 0), ("\u{1b}", 0), ("ש", 1),
            ("ก", 1),
            ("—", 1), ("…", 1), ("€", 1), ("𠀀", 2), ("\u{ad}", 0),
        ])
    func widths(character: Character, width: Int) {
        #expect(character.displayWidth == width)
    }

    @Test("wraps at spaces, breaks words that are longer than a line, and keeps line breaks")
    func wrapping() {
        #expect("the quick brown fox".wrapped(to: 9) == ["the quick", "brown fox"])
        #expect("the quick brown fox".wrapped(to: 10) == ["the quick", "brown fox"])
        #expect("abcdefghij kl".wrapped(to: 4) == ["abcd", "efgh", "ij", "kl"])
        #expect("one\n\ntwo ".wrapped(to: 20) == ["one", "", "two"])
        #expect("漢字漢字漢".wrapped(to: 5) == ["漢字", "漢字", "漢"])
        #expect("  code".wrapped(to: 20) == ["  code"])
        #expect("".wrapped(to: 20) == [""])
    }

    @Test("no line is wider than asked, and no letter is lost", arguments: [2, 3, 7, 30])
    func wrappingAnything(width: Int) {
        var generator = SplitMix64(freshFor: "wrapping random text")
        for _ in 0..<100 {
            let pieces: [Character] = ["a", "b", " ", "漢", "👍", "e\u{301}", "\n"]
            let text = String((0..<80).compactMap { _ in pieces.randomElement(using: &generator) })
            let lines = text.wrapped(to: width)
            #expect(lines.allSatisfy { $0.displayWidth <= width })
            #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " && $0 != "\n" })
        }
    }

    @Test("cuts and fills to a number of columns")
    func fitting() {
        #expect("conversation".cut(to: 6) == "conve…" && "short".cut(to: 6) == "short")
        #expect("漢字漢".cut(to: 4) == "漢…" && "漢字".fitted(to: 6) == "漢字  " && "漢字漢".fitted(to: 4) == "漢… ")
    }
}

@Suite("Text of strangers", .timeLimit(.minutes(1)))
struct CleaningText {
    @Test("shows control characters instead of obeying them")
    func controls() {
        #expect(PlainText.lines("a\u{1b}[2Jb\u{7}\u{9b}31m\u{7f}") == "a␛[2Jb␇\u{fffd}31m␡")
        #expect(PlainText.line("two\nlines\r\nand\tone") == "two lines and    one")
        #expect(PlainText.lines("two\r\nlines\u{2028}three") == "two\nlines\nthree")
    }

    @Test("removes what would change directions or hide in a name")
    func directions() {
        #expect(PlainText.line("photo\u{202e}gpj.exe") == "photogpj.exe")
        #expect(PlainText.line("Ann\u{200b}\u{feff}\u{2066}") == "Ann")
        #expect(PlainText.line("Ann\u{e0041}\u{e006e}\u{e0001}\u{e007f}") == "Ann")
        #expect(PlainText.line("سلام") == "سلام" && PlainText.line("👩‍👩‍👧") == "👩‍👩‍👧")
    }

    @Test("limits marks, and refuses characters that belong to the terminal")
    func marks() {
        let piled = "a" + String(repeating: "\u{301}", count: 500)
        #expect(PlainText.line(piled).unicodeScalars.count <= 12)
        #expect(PlainText.line("\u{10eeee}\u{e000}\u{ffff}") == "\u{fffd}\u{fffd}\u{fffd}")
    }

    @Test("of a long text is cut to 200 lines and 4,000 characters")
    func long() {
        let lines = String(repeating: "\r\n", count: 8_000)
        #expect(PlainText.beginning(lines).filter(\.isNewline).count == 199)
        #expect(PlainText.beginning(String(repeating: "a", count: 4_001)).count == 4_000)
        #expect(PlainText.beginning("one\ntwo\n") == "one\ntwo\n" && PlainText.beginning("").isEmpty)
    }

    @Test("links only to web addresses of harmless characters")
    func links() {
        #expect(PlainText.link("https://127.0.0.1:8080/v1/attachments/1?s=2") != nil)
        for bad in ["javascript:x", "file:///etc/passwd", "https://a\u{1b}\\b", "https://a b", "https://ä"] {
            #expect(PlainText.link(bad) == nil)
        }
    }

    @Test("nothing of random text reaches the cells as a control character")
    func anything() {
        var generator = SplitMix64(freshFor: "random text of strangers")
        for _ in 0..<300 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<60 {
                let bound: UInt32 = Bool.random(using: &generator) ? 0x120 : 0x10ffff
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...bound, using: &generator)) {
                    scalars.append(scalar)
                }
            }
            let text = String(scalars)
            let line = PlainText.line(text)
            #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            var canvas = Canvas(Size(columns: 80, rows: 2))
            canvas.write(text, column: 0, row: 0)
            let shown = canvas.lines[0].unicodeScalars
            #expect(shown.allSatisfy { $0.properties.generalCategory != .control })
        }
    }
}
