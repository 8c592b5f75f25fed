// Bold, italic and code in messages.
import Testing

@testable import TerminalClient

@Suite("Rendering marks", .timeLimit(.minutes(1)))
struct RenderingMarks {
    /// The lines, with «» around bold, ‹› around italic and [] around code.
    private func shown(_ text: String, width: Int = 60) -> [String] {
        Marks.lines(text, width: width).map { line in
            line.spans.map { span in
                var text = span.text
                if span.style.foreground == .cyan { text = "[\(text)]" }
                if span.style.isItalic { text = "‹\(text)›" }
                if span.style.isBold { text = "«\(text)»" }
                return text
            }.joined()
        }
    }

    @Test(
        "replaces marks by a style",
        arguments: [
            ("a **b c** d", "a «b c» d"), ("__b__ and *i* and _j_", "«b» and ‹i› and ‹j›"),
            ("`x = *y*` **z**", "[x = *y*] «z»"), ("***both***", "«‹both›»"), ("**a `b` c**", "«a »[b]« c»"),
            ("و**ب**", "و«ب»"),
        ])
    func styles(text: String, expected: String) {
        #expect(shown(text) == [expected])
        #expect(!Marks.plain(text).contains("**"))
    }

    @Test(
        "leaves what is no mark as it is",
        arguments: [
            "2 * 3 * 4", "snake_case_name", "**open", "a ** b ** c", "`open", "``", "****", "* item", "*a", "a*",
            "https://example.org/_a_/__b__", "_", "5*", "~~struck~~",
        ])
    func plain(text: String) {
        #expect(shown(text) == [text])
        #expect(Marks.plain(text) == text)
    }

    @Test("shows the lines between fences as code, and a fence without an end as text")
    func fences() {
        #expect(
            shown("see\n```swift\nlet **x** = 1\n\n  y\n```\n**end**") == [
                "see", "[let **x** = 1]", "", "[  y]", "«end»",
            ])
        #expect(shown("```\na") == ["```", "a"])
        #expect(shown("```\n```") == [""])
    }

    @Test("keeps styles over the end of a line of the screen, and wide characters whole")
    func wrapping() {
        #expect(shown("aa **bb cc dd** ee", width: 8) == ["aa «bb cc»", "«dd» ee"])
        #expect(shown("**漢字漢字**", width: 4) == ["«漢字»", "«漢字»"])
        #expect(shown("") == [""])
    }

    @Test("takes little time for a text of marks only")
    func marksOnly() {
        for text in ["*", "**", "_a", "`", "**a*"] {
            #expect(!Marks.lines(String(repeating: text, count: 4_000), width: 80).isEmpty)
        }
    }
}
