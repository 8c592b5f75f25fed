// One line of a screen in several styles.

struct StyledLine: Hashable, Sendable {
    struct Span: Hashable, Sendable {
        var text: String
        var style: Style
    }

    var spans: [Span] = []
    /// Stands at the right edge.
    var trailing: Span?

    init(_ text: String = "", _ style: Style = .plain) {
        if !text.isEmpty { spans = [Span(text: text, style: style)] }
    }

    mutating func append(_ text: String, _ style: Style = .plain) { spans.append(Span(text: text, style: style)) }

    func appending(_ text: String, _ style: Style = .plain) -> Self {
        var line = self
        line.append(text, style)
        return line
    }

    var width: Int { spans.reduce(0) { $0 + $1.text.displayWidth } }

    /// The text in the middle of a rule, as wide as the screen.
    static func rule(_ text: String, width: Int, style: Style) -> Self {
        guard !text.isEmpty else { return Self(String(repeating: "─", count: width), style) }
        let label = " \(text.cut(to: max(0, width - 6))) "
        let left = max(0, (width - label.displayWidth) / 2)
        let right = max(0, width - label.displayWidth - left)
        return Self(String(repeating: "─", count: left) + label + String(repeating: "─", count: right), style)
    }
}

extension Canvas {
    mutating func write(_ line: StyledLine, column: Int = 0, row: Int, limit: Int? = nil) {
        var column = column
        for span in line.spans { column = write(span.text, column: column, row: row, style: span.style, limit: limit) }
        if let trailing = line.trailing {
            let start = (limit ?? size.columns) - trailing.text.displayWidth
            if start > column { write(trailing.text, column: start, row: row, style: trailing.style) }
        }
    }
}
