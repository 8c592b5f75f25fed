// Layout of help texts.

package enum HelpText {
    package static let columnCount = 100

    /// The text in lines of at most `columnCount` columns, each indented.
    package static func wrapped(_ text: String, indent: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > columnCount {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return (lines + [line]).map { String(repeating: " ", count: indent) + $0 }.joined(separator: "\n")
    }
}

extension String {
    /// The text with spaces after it, at least one.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
