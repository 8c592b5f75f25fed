// Who is in a conversation.
import Foundation
import Parley

struct MembersScreen: Screen {
    let threadID: ThreadID
    var members: [Member] = []
    var thread: ThreadSummary?
    private var cursor = ListCursor<UserID>()
    private var pageRows = 18

    init(_ threadID: ThreadID) { self.threadID = threadID }

    var title: String { "Members of \(thread?.shownTitle ?? "the conversation")" }
    var acceptsText: Bool { false }

    private var mayManage: Bool { thread.map { $0.kind != .direct && $0.me.role != .member } ?? false }

    var hints: [Hint] {
        [Hint("Enter", "write to")]
            + (thread?.kind == .direct ? [] : [Hint("a", "add")])
            + (mayManage ? [Hint("x", "remove")] : [])
            + [Hint("Esc", "back")]
    }

    private var shown: [Member] { members.filter { $0.status == .joined || $0.status == .invited } }

    mutating func handle(_ key: Key, _ surroundings: Surroundings) -> [Action] {
        let ids = shown.map(\.id)
        if cursor.handle(key, ids: ids, pageRows: pageRows) { return [] }
        switch key {
        case .escape, .character("q"), .left: return [.close]
        case .character("a") where thread?.kind != .direct: return [.show(.people(.add(threadID)))]
        default: break
        }
        guard let index = cursor.index(in: ids), ids[index] != surroundings.me else { return [] }
        switch key {
        case .enter: return [.openDirect(ids[index])]
        case .character("x") where mayManage:
            let name = shown[index].user.shownName
            let remove = Menu.Item("y", "Yes, remove", .change(threadID, .remove(ids[index])))
            return [.show(.menu(Menu(title: "Remove \(name)?", items: [remove, .init("n", "No", .close)])))]
        default: return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        pageRows = rows.count
        let shown = shown
        let ids = shown.map(\.id)
        let selected = cursor.index(in: ids)
        if shown.isEmpty { canvas.write("Loading…", column: 2, row: rows.lowerBound + 1, style: .dim) }
        for (row, index) in zip(rows, cursor.visible(ids: ids, rows: rows.count)) {
            let isSelected = index == selected
            if isSelected { canvas.fill(row: row, style: .reversed) }
            canvas.write(line(shown[index], isSelected: isSelected, surroundings), row: row)
        }
        return []
    }

    private func line(_ member: Member, isSelected: Bool, _ surroundings: Surroundings) -> StyledLine {
        let isOnline = member.user.presence == .online
        let you = member.id == surroundings.me ? ", you" : ""
        var line = StyledLine(isSelected ? ">" : " ", Style.bold.selected(isSelected))
            .appending(isOnline ? "•" : " ", Style.colour(.green, isBold: true).selected(isSelected))
            .appending(member.user.shownName + you, Style.plain.selected(isSelected))
        let words = [
            member.status == .invited ? "invited" : nil,
            member.role == .member ? nil : PlainText.line(member.role.rawValue),
        ].compactMap(\.self)
        line.trailing = .init(text: words.joined(separator: ", ") + " ", style: Style.dim.selected(isSelected))
        return line
    }
}
