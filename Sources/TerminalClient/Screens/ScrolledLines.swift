// The part of a long text that a screen shows, moved by keys.

struct ScrolledLines {
    /// The index of the topmost line. `draw` moves it into the text.
    private var first = 0

    /// Moves by the keys that scroll; the others change nothing.
    mutating func handle(_ key: Key) {
        switch key {
        case .up, .character("k"): first -= 1
        case .down, .character("j"): first += 1
        case .pageUp: first -= 15
        case .pageDown, .character(" "): first += 15
        case .home: first = 0
        // Adding to it does not overflow.
        case .end: first = .max / 2
        default: break
        }
    }

    mutating func draw(_ lines: [StyledLine], on canvas: inout Canvas, rows: Range<Int>) {
        first = max(0, min(first, lines.count - rows.count))
        for (row, line) in zip(rows, lines[first...]) { canvas.write(line, column: 2, row: row) }
    }
}
