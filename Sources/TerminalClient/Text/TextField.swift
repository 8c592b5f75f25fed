// A text that the user edits: the message, a search, a password. Pure.

/// An editable text with a cursor, in characters as people count them.
struct TextField: Hashable, Sendable {
    private(set) var text: String
    /// The number of characters before the cursor.
    private(set) var cursor: Int
    /// Whether Alt-Enter and Ctrl-J insert line breaks, and Up and Down move between lines.
    var hasLines = false
    /// Whether the text is shown as dots.
    var isSecret = false

    init(_ text: String = "", hasLines: Bool = false, isSecret: Bool = false) {
        self.text = text
        cursor = text.count
        self.hasLines = hasLines
        self.isSecret = isSecret
    }

    var isEmpty: Bool { text.isEmpty }

    mutating func set(_ text: String) {
        self.text = text
        cursor = text.count
    }

    /// Changes the text by a key. Returns false if the key means nothing here.
    mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .character(let character): insert(String(character))
        case .paste(let pasted): insert(hasLines ? pasted : PlainText.line(pasted))
        case .newline where hasLines: insert("\n")
        case .backspace: remove(from: cursor - 1, to: cursor)
        case .delete, .control("d"): remove(from: cursor, to: cursor + 1)
        case .deleteWordBackward: remove(from: wordStart, to: cursor)
        case .control("u"): remove(from: lineStart, to: cursor)
        case .control("k"): remove(from: cursor, to: lineEnd)
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .home, .control("a"): cursor = lineStart
        case .end, .control("e"): cursor = lineEnd
        case .up where hasLines: return move(by: -1)
        case .down where hasLines: return move(by: 1)
        default: return false
        }
        return true
    }

    mutating func insert(_ added: String) {
        let place = index(cursor)
        let start = text[..<place] + added
        // A mark joins the character before it, so the characters are counted again.
        let count = start.count
        text = String(start + text[place...])
        cursor = min(count, text.count)
    }

    private mutating func remove(from start: Int, to end: Int) {
        let (start, end) = (max(0, start), min(text.count, end))
        guard start < end else { return }
        text.removeSubrange(index(start)..<index(end))
        cursor = min(start, text.count)
    }

    private func index(_ offset: Int) -> String.Index { text.index(text.startIndex, offsetBy: offset) }

    private var wordStart: Int {
        let before = Array(text.prefix(cursor))
        let letters = before.reversed().drop { !$0.isWordPart }
        return letters.drop(while: \.isWordPart).count
    }

    private var wordEnd: Int {
        let after = text.dropFirst(cursor).drop { !$0.isWordPart }
        return text.count - after.drop(while: \.isWordPart).count
    }

    private var lineStart: Int { cursor - text.prefix(cursor).reversed().prefix { $0 != "\n" }.count }
    private var lineEnd: Int { cursor + text.dropFirst(cursor).prefix { $0 != "\n" }.count }

    /// Moves the cursor to the line above or below. Returns false if there is none.
    private mutating func move(by lines: Int) -> Bool {
        let column = cursor - lineStart
        if lines < 0 {
            guard lineStart > 0 else { return false }
            cursor = lineStart - 1
            cursor = min(lineStart + column, lineEnd)
        } else {
            guard lineEnd < text.count else { return false }
            cursor = lineEnd + 1
            cursor = min(lineStart + column, lineEnd)
        }
        return true
    }
}

extension Character {
    fileprivate var isWordPart: Bool { isLetter || isNumber || self == "_" }
}

extension TextField {
    /// The text in lines of at most `width` columns, and the place of the cursor in them.
    func layout(width: Int) -> (lines: [String], row: Int, column: Int) {
        let width = max(2, width)
        var lines = [""]
        var column = 0
        var place = (row: 0, column: 0)
        for (offset, character) in text.enumerated() {
            let shown =
                isSecret ? "•" : character == "\n" ? "" : PlainText.line(String(character))
            // One column stays free for the cursor.
            if column + shown.displayWidth > width - 1 {
                lines.append("")
                column = 0
            }
            if offset == cursor { place = (lines.count - 1, column) }
            if character == "\n" {
                lines.append("")
                column = 0
                continue
            }
            lines[lines.count - 1] += shown
            column += shown.displayWidth
        }
        if cursor == text.count { place = (lines.count - 1, column) }
        return (lines, place.row, place.column)
    }
}
