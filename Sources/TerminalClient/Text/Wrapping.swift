// Text in lines of a number of columns.

extension String {
    /// The text in lines of at most `width` columns: broken at its line breaks, at spaces, and within words that are
    /// longer than a line. At least one line.
    func wrapped(to width: Int) -> [String] {
        let width = Swift.max(2, width)
        return split(separator: "\n", omittingEmptySubsequences: false).flatMap { Self.wrap($0, to: width) }
    }

    /// The text cut to `width` columns, with "…" in place of what was cut.
    func cut(to width: Int) -> String {
        guard displayWidth > width else { return self }
        guard width > 0 else { return "" }
        return Self.prefix(self[...], width: width - 1) + "…"
    }

    /// The text cut or filled with spaces to exactly `width` columns.
    func fitted(to width: Int) -> String {
        let text = cut(to: width)
        return text + String(repeating: " ", count: Swift.max(0, width - text.displayWidth))
    }

    private static func wrap(_ paragraph: Substring, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var column = 0
        // A word with the spaces behind it.
        var rest = paragraph
        while !rest.isEmpty {
            let word = rest.prefix { $0 != " " }
            let spaces = rest[word.endIndex...].prefix { $0 == " " }
            rest = rest[spaces.endIndex...]
            let wordWidth = String(word).displayWidth
            if column > 0, column + wordWidth > width {
                lines.append(trimmed(line))
                (line, column) = ("", 0)
            }
            if wordWidth <= width {
                line += word
                column += wordWidth
            } else {
                for character in word {
                    if column + character.displayWidth > width {
                        lines.append(line)
                        (line, column) = ("", 0)
                    }
                    line.append(character)
                    column += character.displayWidth
                }
            }
            line += spaces.prefix(Swift.max(0, width - column))
            column += spaces.count
        }
        return lines + [trimmed(line)]
    }

    private static func trimmed(_ line: String) -> String {
        guard let last = line.lastIndex(where: { $0 != " " }) else { return "" }
        return String(line[...last])
    }

    /// The longest beginning of at most `width` columns.
    private static func prefix(_ text: Substring, width: Int) -> String {
        var column = 0
        return String(
            text.prefix { character in
                column += character.displayWidth
                return column <= width
            })
    }
}
