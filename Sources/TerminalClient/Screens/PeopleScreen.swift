// Choosing people of the directory: for a direct conversation, a group, or one more member.
import Foundation
import Parley

struct PeopleScreen: Screen {
    enum Purpose: Hashable, Sendable {
        case direct
        case group(title: String)
        case add(ThreadID)
    }

    let purpose: Purpose
    var found: [User] = []
    var lookup = LookupField<UserID>()
    private(set) var chosen: [User] = []

    init(_ purpose: Purpose) { self.purpose = purpose }

    var acceptsText: Bool { true }
    private var text: String { lookup.text }

    var title: String {
        switch purpose {
        case .direct: "Write to"
        case .group(let title): "Members of \(PlainText.line(title))"
        case .add: "Add a member"
        }
    }

    var hints: [Hint] {
        if case .group = purpose {
            return [
                Hint("Enter", text.isEmpty ? "create the group" : "choose"), Hint("↑↓", "move"), Hint("Esc", "back"),
            ]
        }
        return [Hint("Enter", "choose"), Hint("↑↓", "move"), Hint("Esc", "back")]
    }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        let ids = found.map(\.id)
        switch key {
        case .escape: return [.close]
        case .up, .down, .pageUp, .pageDown:
            _ = lookup.cursor.handle(key, ids: ids, pageRows: 10)
            return []
        case .enter:
            if case .group(let title) = purpose, text.isEmpty {
                return [.createGroup(title: title, members: chosen.map(\.id))]
            }
            guard let index = lookup.cursor.index(in: ids) else { return [] }
            return choose(found[index])
        case .backspace where text.isEmpty && !chosen.isEmpty:
            chosen.removeLast()
            return []
        default:
            guard lookup.handle(key) else { return [] }
            if text.isEmpty { found = [] }
            return [.findPeople(text)]
        }
    }

    private mutating func choose(_ user: User) -> [Action] {
        switch purpose {
        case .direct: return [.openDirect(user.id)]
        case .add(let thread): return [.close, .change(thread, .add(user.id))]
        case .group:
            if !chosen.contains(where: { $0.id == user.id }) { chosen.append(user) }
            lookup = LookupField()
            found = []
            return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        lookup.draw("Name:", on: &canvas, row: rows.lowerBound)
        var row = rows.lowerBound + 1
        if case .group = purpose {
            let names = chosen.isEmpty ? "nobody yet" : chosen.map(\.shownName).joined(separator: ", ")
            canvas.write("Chosen: \(names)".cut(to: canvas.size.columns - 2), column: 1, row: row, style: .dim)
            row += 1
        }
        let list = (row + 1)..<max(row + 1, rows.upperBound)
        let people = found.filter { $0.id != surroundings.me }
        guard !people.isEmpty else {
            let hint = "Type the beginning of a name or username."
            let text = text.isEmpty ? hint : lookup.isSearching ? "Searching…" : "Nobody was found."
            canvas.write(text, column: 2, row: list.lowerBound, style: .dim)
            return []
        }
        let ids = found.map(\.id)
        let selected = lookup.cursor.index(in: ids)
        for (row, index) in zip(list, lookup.cursor.visible(ids: ids, rows: list.count)) {
            let isSelected = index == selected
            if isSelected { canvas.fill(row: row, style: .reversed) }
            let isOnline = found[index].presence == .online
            canvas.write(isOnline ? "•" : " ", column: 1, row: row, style: Style.colour(.green).selected(isSelected))
            canvas.write(
                found[index].shownName.cut(to: canvas.size.columns - 4), column: 2, row: row,
                style: Style.plain.selected(isSelected))
        }
        return []
    }
}
