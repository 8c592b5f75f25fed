// Bold, italic and code in messages, as the web client reads them: `**`, `__`, `*`, `_`, `` ` `` and fences of ```.

/// Renders the marks of a text. Links, lists and quotes stay as they are written.
enum Marks {
    /// A character, and how it looks.
    private struct Styled {
        var character: Character
        var style: Style
    }

    private static let code = Style(foreground: .cyan)

    /// The text in lines of at most `width` columns, without the marks. At least one line. The text is clean.
    static func lines(_ text: String, width: Int) -> [StyledLine] {
        // Most messages have no marks, and a timeline measures all of them.
        guard hasMarks(text) else { return text.wrapped(to: width).map { StyledLine($0) } }
        let lines = styled(text).flatMap { wrapped($0, width: width) }
        return lines.isEmpty ? [StyledLine()] : lines
    }

    /// The text without the marks, for a preview.
    static func plain(_ text: String) -> String {
        guard hasMarks(text) else { return text }
        return styled(text).map { String($0.map(\.character)) }.joined(separator: "\n")
    }

    private static func hasMarks(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "`") }
    }

    /// The lines of the text; those of fences are gone.
    private static func styled(_ text: String) -> [[Styled]] {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        // A fence without an end is none.
        let lastEnd = all.lastIndex(where: isEndOfFence) ?? -1
        var lines: [[Styled]] = []
        var isCode = false
        for (index, line) in all.enumerated() {
            if isCode ? isEndOfFence(line) : index < lastEnd && isFence(line) {
                isCode.toggle()
            } else {
                lines.append(isCode ? line.map { Styled(character: $0, style: code) } : inline(Array(line)))
            }
        }
        return lines
    }

    private static func isFence(_ line: Substring) -> Bool {
        guard let rest = afterTicks(line) else { return false }
        return rest.allSatisfy { isWord($0) || "+#.- ".contains($0) }
    }

    private static func isEndOfFence(_ line: Substring) -> Bool {
        afterTicks(line).map { $0.allSatisfy { $0 == " " } } ?? false
    }

    private static func afterTicks(_ line: Substring) -> Substring? {
        let indent = line.prefix { $0 == " " }
        let rest = line[indent.endIndex...]
        return indent.count <= 3 && rest.hasPrefix("```") ? rest.dropFirst(3) : nil
    }

    // MARK: Within a line

    private static func inline(_ line: [Character]) -> [Styled] {
        var styled: [Styled] = []
        // Marks that may begin a style, outermost first, with their places in `styled`.
        var open: [(mark: [Character], at: Int)] = []
        func append(_ characters: some Sequence<Character>, _ style: Style = .plain) {
            styled += characters.map { Styled(character: $0, style: style) }
        }
        var position = 0
        while position < line.count {
            let character = line[position]
            if character == "`", let end = line[(position + 1)...].firstIndex(of: "`"), end > position + 1 {
                append(line[(position + 1)..<end], code)
                position = end + 1
            } else if let end = endOfLink(line, position) {
                append(line[position..<end])
                position = end
            } else if character == "*" || character == "_" {
                let mark = mark(line, position, open.last?.mark)
                position += mark.count
                let (mayOpen, mayClose) = role(of: mark, in: line, before: position)
                if let index = open.firstIndex(where: { $0.mark == mark }) {
                    let begin = open[index].at
                    guard mayClose, styled.count > begin + mark.count else {
                        append(mark)
                        continue
                    }
                    open.removeSubrange(index...)
                    for place in (begin + mark.count)..<styled.count where styled[place].style != code {
                        if mark.count == 2 {
                            styled[place].style.isBold = true
                        } else {
                            styled[place].style.isItalic = true
                        }
                    }
                    styled.removeSubrange(begin..<begin + mark.count)
                } else {
                    if mayOpen { open.append((mark, styled.count)) }
                    append(mark)
                }
            } else {
                append(CollectionOfOne(character))
                position += 1
            }
        }
        return styled
    }

    /// One or two of the character. Three at the end of a style close the inner one first.
    private static func mark(_ line: [Character], _ at: Int, _ inner: [Character]?) -> [Character] {
        func character(_ offset: Int) -> Character? { at + offset < line.count ? line[at + offset] : nil }
        let isDouble = character(1) == line[at] && (character(2) != line[at] || inner != [line[at]])
        return Array(repeating: line[at], count: isDouble ? 2 : 1)
    }

    /// Whether a mark may begin a style or end one. Marks within words are none, except `**`.
    private static func role(
        of mark: [Character], in line: [Character], before end: Int
    ) -> (mayOpen: Bool, mayClose: Bool) {
        let start = end - mark.count
        let before = start > 0 ? line[start - 1] : nil
        let after = end < line.count ? line[end] : nil
        func isEdge(_ next: Character?) -> Bool {
            guard let next, mark != ["*", "*"], next != mark[0] else { return true }
            return !isWord(next)
        }
        func isSpace(_ next: Character?) -> Bool { next?.isWhitespace ?? true }
        return (!isSpace(after) && isEdge(before), !isSpace(before) && isEdge(after))
    }

    /// The end of a web address that begins here; its underscores are no marks.
    private static func endOfLink(_ line: [Character], _ at: Int) -> Int? {
        guard line[at] == "h", at == 0 || !isWord(line[at - 1]) else { return nil }
        let begins = ["https://", "http://"].contains { line[at...].starts(with: $0) }
        guard begins else { return nil }
        return line[at...].firstIndex { $0.isWhitespace || $0 == "`" || $0 == "*" } ?? line.count
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    // MARK: Wrapping

    /// `String.wrapped` keeps all characters in their order and leaves out spaces only, so the styles find their
    /// characters again.
    private static func wrapped(_ line: [Styled], width: Int) -> [StyledLine] {
        var rest = line[...]
        return String(line.map(\.character)).wrapped(to: width).map { text in
            var wrapped = StyledLine()
            for character in text {
                rest = rest.drop { $0.character != character }
                guard let next = rest.popFirst() else { break }
                if let last = wrapped.spans.indices.last, wrapped.spans[last].style == next.style {
                    wrapped.spans[last].text.append(character)
                } else {
                    wrapped.append(String(character), next.style)
                }
            }
            return wrapped
        }
    }
}
