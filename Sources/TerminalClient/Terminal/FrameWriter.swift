// The difference between two canvases as bytes for a terminal.

/// Remembers what the terminal shows. Pure: the caller writes the bytes.
struct FrameWriter: Sendable {
    /// Whether colours are left out (`NO_COLOR`).
    var isMonochrome = false
    private var shown: Canvas?

    init(isMonochrome: Bool = false) { self.isMonochrome = isMonochrome }

    /// Forgets what the terminal shows: after a stop, a resize, or when something else has written there.
    mutating func forget() { shown = nil }

    /// Returns the bytes that bring the terminal to this canvas.
    mutating func frame(_ canvas: Canvas) -> String {
        guard canvas != shown else { return "" }
        let old = shown?.size == canvas.size ? shown : nil
        // The frame is shown at once where the terminal knows synchronised updates (mode 2026).
        var output = "\u{1b}[?2026h\u{1b}[?25l"
        if old == nil { output += "\u{1b}[0m\u{1b}[2J" }
        var pen = Pen(isMonochrome: isMonochrome)
        for row in 0..<canvas.size.rows {
            guard let columns = Self.changedColumns(row, from: old, to: canvas) else { continue }
            pen.draw(canvas.row(row), columns, row: row, on: &output)
        }
        pen.end(&output)
        if let cursor = canvas.cursor { output += "\u{1b}[\(cursor.row + 1);\(cursor.column + 1)H\u{1b}[?25h" }
        output += "\u{1b}[?2026l"
        shown = canvas
        return output
    }

    /// From the first to the last cell that differs, whole characters only; nil if the row is the same.
    private static func changedColumns(_ row: Int, from old: Canvas?, to new: Canvas) -> Range<Int>? {
        let cells = Array(new.row(row))
        let before = old.map { Array($0.row(row)) } ?? Array(repeating: .blank, count: cells.count)
        guard cells != before, var first = cells.indices.first(where: { cells[$0] != before[$0] }),
            var last = cells.indices.last(where: { cells[$0] != before[$0] })
        else { return nil }
        while first > 0, cells[first].character == nil || before[first].character == nil { first -= 1 }
        while last + 1 < cells.count, cells[last + 1].character == nil || before[last + 1].character == nil {
            last += 1
        }
        return first..<last + 1
    }
}

/// The state of the terminal's output while one frame is written.
private struct Pen {
    let isMonochrome: Bool
    private var style: Style?
    private var link: String?

    init(isMonochrome: Bool) { self.isMonochrome = isMonochrome }

    mutating func draw(_ row: ArraySlice<Cell>, _ columns: Range<Int>, row number: Int, on output: inout String) {
        var isPlaced = false
        for column in columns {
            let cell = row[row.startIndex + column]
            guard let character = cell.character else { continue }
            let place = "\u{1b}[\(number + 1);\(column + 1)H"
            if !isPlaced { output += place }
            set(cell.style, on: &output)
            // Terminals disagree about the width of joined characters. What was there before must not stay beside a
            // narrow one, and the next character gets its place explicitly.
            if character.displayWidth == 2, character.unicodeScalars.count > 1 { output += "  " + place }
            output.append(character)
            isPlaced = character.isASCII
        }
    }

    mutating func end(_ output: inout String) {
        if link != nil { output += "\u{1b}]8;;\u{1b}\\" }
        if style != nil { output += "\u{1b}[0m" }
    }

    private mutating func set(_ new: Style, on output: inout String) {
        guard new != style else { return }
        if new.link != link { output += "\u{1b}]8;;\(new.link ?? "")\u{1b}\\" }
        link = new.link
        var look = new
        look.link = nil
        var current = style
        current?.link = nil
        if look != current { output += look.sequence(isMonochrome: isMonochrome) }
        style = new
    }
}
