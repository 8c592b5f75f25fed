// The text field by its keys.
import Testing

@testable import TerminalClient

@Suite("Editing a text", .timeLimit(.minutes(1)))
struct EditingText {
    private func edited(_ text: String = "", hasLines: Bool = false, _ keys: Key...) -> (String, Int) {
        var field = TextField(text, hasLines: hasLines)
        for key in keys { _ = field.handle(key) }
        return (field.text, field.cursor)
    }

    @Test("inserts and removes whole characters at the cursor")
    func characters() {
        #expect(edited("ac", .left, .character("b")) == ("abc", 2))
        #expect(edited("a👩‍👩‍👧", .backspace) == ("a", 1))
        #expect(edited("漢字", .home, .delete) == ("字", 0))
        #expect(edited("", .backspace, .delete, .left) == ("", 0))
        // Typed one after the other, the parts of a character join.
        #expect(edited("e", .character("\u{301}")) == ("e\u{301}", 1))
    }

    @Test("moves and deletes by word and by line")
    func words() {
        #expect(edited("one two  three", .deleteWordBackward) == ("one two  ", 9))
        #expect(edited("one two  ", .deleteWordBackward) == ("one ", 4))
        #expect(edited("one two", .wordLeft, .wordLeft) == ("one two", 0))
        #expect(edited("one two", .home, .wordRight) == ("one two", 3))
        #expect(edited("one two", .wordLeft, .control("k")) == ("one ", 4))
        #expect(edited("one two", .wordLeft, .control("u")) == ("two", 0))
    }

    @Test("has line breaks only where they are wanted")
    func lines() {
        #expect(edited("a", hasLines: true, .newline, .character("b")) == ("a\nb", 3))
        #expect(edited("a", .newline, .paste("x\ny")) == ("ax y", 4))
        #expect(edited("abc\nd", hasLines: true, .up, .character("x")) == ("axbc\nd", 2))
        #expect(edited("a\nbcd", hasLines: true, .home, .right, .right, .up) == ("a\nbcd", 1))
    }

    @Test("says which keys mean nothing, so that the screen may use them")
    func unused() {
        var field = TextField("one", hasLines: true)
        let unused: [Key] = [.enter, .escape, .tab, .function(1), .control("f"), .pageUp, .up, .down]
        for key in unused {
            let isUsed = field.handle(key)
            #expect(!isUsed, "\(key)")
        }
        #expect(field.text == "one")
    }

    @Test("lays its text out with the cursor in it")
    func layout() {
        let field = TextField("hello world")
        let layout = field.layout(width: 6)
        #expect(layout.lines == ["hello", " worl", "d"] && layout.row == 2 && layout.column == 1)
        #expect(TextField("secret", isSecret: true).layout(width: 20).lines == ["••••••"])
        #expect(TextField("a\nb", hasLines: true).layout(width: 20).lines == ["a", "b"])
        #expect(TextField("a\u{1b}b").layout(width: 20).lines == ["a␛b"])
    }
}
