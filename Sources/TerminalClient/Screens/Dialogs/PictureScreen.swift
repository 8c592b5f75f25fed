// One picture, as large as the terminal allows. The screen reserves the room; `Chat` writes the picture into it.
import Foundation
import Parley

struct PictureScreen: Screen {
    let attachment: Attachment
    /// Why the picture is not shown.
    var message: String? = "Loading…"
    /// The room for the picture, known once the screen was drawn.
    private(set) var room: (place: Canvas.Place, size: Size)?

    init(_ attachment: Attachment) { self.attachment = attachment }

    var title: String { PlainText.name(attachment.name) }
    var acceptsText: Bool { false }
    var hints: [Hint] { [Hint("s", "save"), Hint("Esc", "back")] }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        switch key {
        case .character("s"): [.close, .show(.prompt(.save(attachment)))]
        case .escape, .enter, .character("q"), .character("v"), .character(" "): [.close]
        default: []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        room = (
            .init(column: 1, row: rows.lowerBound), Size(columns: canvas.size.columns - 2, rows: rows.count - 1)
        )
        for (offset, line) in (message ?? "").wrapped(to: canvas.size.columns - 4).enumerated() {
            canvas.write(line, column: 2, row: rows.lowerBound + 1 + offset, style: .dim)
        }
        return []
    }
}
