// What a terminal shows, as cells. Screens draw here; FrameWriter.swift brings it to the terminal.

struct Size: Hashable, Sendable {
    var columns: Int
    var rows: Int
}

/// One column of one row.
struct Cell: Hashable, Sendable {
    /// One character of one or two columns; nil in the second column of a wide one.
    var character: Character?
    var style = Style.plain

    static let blank = Cell(character: " ")
}

struct Canvas: Hashable, Sendable {
    struct Place: Hashable, Sendable {
        var column: Int
        var row: Int
    }

    let size: Size
    private(set) var cells: [Cell]
    /// Where the terminal's cursor is shown; nil hides it.
    var cursor: Place?

    /// An empty canvas. A size below one cell counts as one cell.
    init(_ size: Size) {
        self.size = Size(columns: max(1, size.columns), rows: max(1, size.rows))
        cells = Array(repeating: .blank, count: self.size.columns * self.size.rows)
    }

    func row(_ row: Int) -> ArraySlice<Cell> { cells[row * size.columns..<(row + 1) * size.columns] }

    /// Writes a text on one row and cuts it at the limit. Control characters are left out: only text that `PlainText`
    /// has cleaned should come here, and this is the second lock.
    /// - Parameter limit: the first column that is not written; nil for the whole row.
    /// - Returns: the column after the text.
    @discardableResult
    mutating func write(_ text: String, column: Int, row: Int, style: Style = .plain, limit: Int? = nil) -> Int {
        guard (0..<size.rows).contains(row) else { return column }
        let limit = min(limit ?? size.columns, size.columns)
        var column = column
        for character in text {
            let width = character.displayWidth
            guard width > 0 else { continue }
            guard column + width <= limit else { break }
            if column >= 0 { put(character, width: width, column: column, row: row, style: style) }
            column += width
        }
        return column
    }

    /// Sets the style of a whole row, blank or not.
    mutating func fill(row: Int, style: Style) {
        guard (0..<size.rows).contains(row) else { return }
        for column in 0..<size.columns { cells[row * size.columns + column] = Cell(character: " ", style: style) }
    }

    private mutating func put(_ character: Character, width: Int, column: Int, row: Int, style: Style) {
        let at = row * size.columns + column
        // Half of a wide character cannot stay.
        if cells[at].character == nil, column > 0 { cells[at - 1] = .blank }
        if column + width < size.columns, cells[at + width].character == nil { cells[at + width] = .blank }
        cells[at] = Cell(character: character, style: style)
        if width == 2 { cells[at + 1] = Cell(character: nil, style: style) }
    }
}

extension Canvas {
    /// The text of the rows without spaces at their ends, for tests.
    var lines: [String] {
        (0..<size.rows).map { row in
            let text = String(self.row(row).compactMap(\.character))
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }
}
