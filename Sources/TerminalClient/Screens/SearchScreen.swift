// Searching messages: local matches at once, then the server's.
import Foundation
import Parley

/// A message that was found.
struct FoundMessage: Hashable, Sendable, Identifiable {
    var message: Message
    /// The text around the match, with the words that matched.
    var pieces: [Piece]
    var threadTitle: String

    struct Piece: Hashable, Sendable {
        var text: String
        var isMatch: Bool
    }

    var id: MessageID { message.id }
}

struct SearchScreen: Screen {
    /// A value of nil searches everywhere.
    let threadID: ThreadID?
    var results: [FoundMessage] = []
    var lookup = LookupField<MessageID>()
    /// Whether the server could not be asked, so only messages of this device were searched.
    var isOffline = false
    private var pageRows = 18

    init(in threadID: ThreadID?) { self.threadID = threadID }

    var title: String { threadID == nil ? "Search" : "Search in this conversation" }
    var acceptsText: Bool { true }
    var hints: [Hint] { [Hint("Enter", "open"), Hint("↑↓", "move"), Hint("Esc", "back")] }
    private var text: String { lookup.text }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        let ids = results.map(\.id)
        switch key {
        case .escape: return [.close]
        case .enter:
            guard let index = lookup.cursor.index(in: ids) else { return [] }
            return [.open(results[index].message.threadID, at: results[index].id)]
        case .up, .down, .pageUp, .pageDown:
            _ = lookup.cursor.handle(key, ids: ids, pageRows: pageRows)
            return []
        default:
            guard lookup.handle(key) else { return [] }
            isOffline = false
            if text.isEmpty { results = [] }
            return [.search(text)]
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        lookup.draw("Search:", on: &canvas, row: rows.lowerBound)
        let list = rows.dropFirst(2)
        guard !results.isEmpty else {
            let outcome =
                isOffline ? "Nothing was found on this device. The server did not answer." : "Nothing was found."
            let text = text.isEmpty ? "Type words to search for." : lookup.isSearching ? "Searching…" : outcome
            canvas.write(text, column: 2, row: list.lowerBound, style: .dim)
            return []
        }
        // Two lines for each result.
        pageRows = list.count / 2
        let ids = results.map(\.id)
        let selected = lookup.cursor.index(in: ids)
        for (offset, index) in lookup.cursor.visible(ids: ids, rows: pageRows).enumerated() {
            let row = list.lowerBound + 2 * offset
            draw(results[index], isSelected: index == selected, row: row, on: &canvas, surroundings)
        }
        return []
    }

    private func draw(
        _ result: FoundMessage, isSelected: Bool, row: Int, on canvas: inout Canvas, _ surroundings: Surroundings
    ) {
        if isSelected { canvas.fill(row: row, style: .reversed) }
        let sender = result.message.sender.map { $0.id == surroundings.me ? "You" : $0.shownName } ?? ""
        var line = StyledLine(isSelected ? "> " : "  ", Style.bold.selected(isSelected))
        line.append(sender.cut(to: 24), Style.bold.selected(isSelected))
        // A direct thread has the name of the other person.
        if threadID == nil, result.threadTitle != sender {
            line.append(" in \(result.threadTitle)".cut(to: 30), Style.dim.selected(isSelected))
        }
        let time = surroundings.calendar.shownShortly(result.message.timestamp, now: surroundings.now)
        line.trailing = .init(text: time + " ", style: Style.dim.selected(isSelected))
        canvas.write(line, row: row)
        var text = StyledLine("    ")
        for piece in result.pieces {
            text.append(PlainText.line(piece.text), piece.isMatch ? .colour(.yellow, isBold: true) : .plain)
        }
        canvas.write(text, row: row + 1)
    }
}

extension FoundMessage {
    /// Splits the server's snippet: escaped text with `<mark>` around each match.
    static func pieces(ofSnippet snippet: String) -> [Piece] {
        snippet.split(separator: "<mark>", omittingEmptySubsequences: false).enumerated()
            .flatMap { index, part -> [Piece] in
                guard index > 0 else { return [Piece(text: unescaped(part), isMatch: false)] }
                let halves = part.split(separator: "</mark>", maxSplits: 1, omittingEmptySubsequences: false)
                let rest = halves.count > 1 ? [Piece(text: unescaped(halves[1]), isMatch: false)] : []
                return [Piece(text: unescaped(halves[0]), isMatch: true)] + rest
            }
            .filter { !$0.text.isEmpty }
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}
