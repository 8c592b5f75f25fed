// Messages that are not at the server yet.
import Foundation
import Parley

struct OutboxScreen: Screen {
    var messages: [UnsentMessage]?
    /// Titles of threads, by id.
    var titles: [ThreadID: String] = [:]
    private var cursor = ListCursor<MessageID>()
    private var pageRows = 18

    init() {}

    var title: String { "Messages that are not sent yet" }
    var acceptsText: Bool { false }
    var hints: [Hint] { [Hint("Enter", "open"), Hint("r", "retry"), Hint("d", "discard"), Hint("Esc", "back")] }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        let messages = messages ?? []
        let ids = messages.map(\.id)
        if cursor.handle(key, ids: ids, pageRows: pageRows) { return [] }
        switch key {
        case .escape, .character("q"), .left: return [.close]
        default: break
        }
        guard let index = cursor.index(in: ids) else { return [] }
        switch key {
        case .enter: return [.open(messages[index].threadID)]
        case .character("r"): return [.retry(ids[index])]
        case .character("d"), .delete: return [.discard(ids[index])]
        default: return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        guard let messages else { return [] }
        pageRows = rows.count
        if messages.isEmpty { canvas.write("Everything is sent.", column: 2, row: rows.lowerBound + 1, style: .dim) }
        let ids = messages.map(\.id)
        let selected = cursor.index(in: ids)
        for (row, index) in zip(rows, cursor.visible(ids: ids, rows: rows.count)) {
            let message = messages[index]
            let isSelected = index == selected
            if isSelected { canvas.fill(row: row, style: .reversed) }
            let state = state(message.state)
            var line = StyledLine(isSelected ? "> " : "  ", Style.bold.selected(isSelected))
            line.append((titles[message.threadID] ?? "").fitted(to: 20), Style.bold.selected(isSelected))
            let text = ([message.text] + message.fileNames.map { "[file] \($0)" }).filter { !$0.isEmpty }
            let room = max(0, canvas.size.columns - line.width - state.text.displayWidth - 4)
            line.append(
                " " + PlainText.line(text.joined(separator: " ")).cut(to: room), Style.plain.selected(isSelected))
            line.trailing = .init(text: state.text + " ", style: state.style.selected(isSelected))
            canvas.write(line, row: row)
        }
        return []
    }

    private func state(_ state: UnsentMessage.State) -> (text: String, style: Style) {
        switch state {
        case .waiting: ("waiting", .dim)
        case .uploading(let fraction): ("\(Int(fraction * 100)) %", .dim)
        case .sending: ("sending", .dim)
        case .pending: ("waiting for review", .dim)
        case .failed(let reason): (PlainText.line(reason).cut(to: 40), .failure)
        }
    }
}
