// A line of text above the list of what it finds. For every screen that looks things up.
import Foundation

struct LookupField<ID: Hashable & Sendable>: Hashable, Sendable {
    /// Whether more may be found.
    var isSearching = false
    /// Of the list.
    var cursor = ListCursor<ID>()
    private var field = TextField()

    var text: String { field.text.trimmingCharacters(in: .whitespaces) }

    /// Changes the text by a key, and returns whether something else is to be looked up.
    mutating func handle(_ key: Key) -> Bool {
        let before = text
        guard field.handle(key), text != before else { return false }
        cursor = ListCursor()
        isSearching = !text.isEmpty
        return true
    }

    func draw(_ name: String, on canvas: inout Canvas, row: Int) {
        let column = 2 + name.displayWidth
        let layout = field.layout(width: canvas.size.columns - 12)
        canvas.write(name, column: 1, row: row, style: .bold)
        canvas.write(layout.lines[layout.row], column: column, row: row)
        canvas.cursor = .init(column: column + layout.column, row: row)
    }
}
