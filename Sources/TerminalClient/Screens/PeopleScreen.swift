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
    var isSearching = false
    private(set) var chosen: [User] = []
    private var field = TextField()
    private var cursor = ListCursor<UserID>()

    init(_ purpose: Purpose) { self.purpose = purpose }

    var acceptsText: Bool { true }
    var text: String { field.text.trimmingCharacters(in: .whitespaces) }

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
            _ = cursor.handle(key, ids: ids, pageRows: 10)
            return []
        case .enter:
            if case .group(let title) = purpose, text.isEmpty {
                return [.createGroup(title: title, members: chosen.map(\.id))]
            }
            guard let index = cursor.index(in: ids) else { return [] }
            return choose(found[index])
        case .backspace where text.isEmpty && !chosen.isEmpty:
            chosen.removeLast()
            return []
        default:
            let before = text
            guard field.handle(key), text != before else { return [] }
            cursor = ListCursor()
            isSearching = !text.isEmpty
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
            field.set("")
            found = []
            return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        let layout = field.layout(width: canvas.size.columns - 12)
        canvas.write("Name:", column: 1, row: rows.lowerBound, style: .bold)
        canvas.write(layout.lines[layout.row], column: 7, row: rows.lowerBound)
        canvas.cursor = .init(column: 7 + layout.column, row: rows.lowerBound)
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
            let text = text.isEmpty ? hint : isSearching ? "Searching…" : "Nobody was found."
            canvas.write(text, column: 2, row: list.lowerBound, style: .dim)
            return []
        }
        let ids = found.map(\.id)
        let selected = cursor.index(in: ids)
        for (row, index) in zip(list, cursor.visible(ids: ids, rows: list.count)) {
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

/// The title of a group or room that is to be made.
struct TitleScreen: Screen {
    enum Kind: Hashable, Sendable { case group, room }

    let kind: Kind
    private var field = TextField()

    init(_ kind: Kind) { self.kind = kind }

    var title: String { kind == .group ? "New group" : "Join a room" }
    var acceptsText: Bool { true }
    var hints: [Hint] { [Hint("Enter", kind == .group ? "choose members" : "join or create"), Hint("Esc", "back")] }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        switch key {
        case .escape: return [.close]
        case .enter:
            let title = field.text.trimmingCharacters(in: .whitespaces)
            guard !title.isEmpty else { return [] }
            return kind == .group ? [.show(.people(.group(title: title)))] : [.joinRoom(title: title)]
        default:
            _ = field.handle(key)
            return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        let question = kind == .group ? "Title of the group:" : "Title of the room. It is created if there is none:"
        canvas.write(question, column: 2, row: rows.lowerBound + 1)
        let layout = field.layout(width: canvas.size.columns - 6)
        canvas.write(">", column: 2, row: rows.lowerBound + 3, style: .bold)
        canvas.write(layout.lines[layout.row], column: 4, row: rows.lowerBound + 3)
        canvas.cursor = .init(column: 4 + layout.column, row: rows.lowerBound + 3)
        return []
    }
}
