// The list of conversations.
import Foundation
import Parley

struct InboxScreen: Screen {
    var filter = ConversationFilter.active
    /// Newest first. Nil until the store has been read.
    var conversations: [Conversation]?
    /// How many messages wait in the outbox.
    var unsentCount = 0
    /// Only threads with this label are shown, of the host app's or the user's own; nil shows all.
    private(set) var label: String?
    private var cursor = ListCursor<ThreadID>()
    private var pageRows = 20

    init() {}

    var title: String { filter.title + (label.map { " · \(PlainText.line($0))" } ?? "") }
    var acceptsText: Bool { false }

    var hints: [Hint] {
        [
            Hint("Enter", "open"), Hint("n", "new"), Hint("/", "search"), Hint("f", "filter"), Hint("m", "mute"),
            Hint("p", "pin"), Hint("a", "archive"), Hint("u", "unread"),
        ] + (labels.isEmpty ? [] : [Hint("L", "label")]) + (unsentCount > 0 ? [Hint("o", "outbox")] : []) + [
            Hint("?", "help"), Hint("q", "quit"),
        ]
    }

    /// Pinned ones before all others.
    private var rows: [Conversation] {
        let chosen = (conversations ?? []).filter { conversation in
            filter.keeps(conversation) && (label.map(conversation.labels.contains) ?? true)
        }
        return chosen.filter(\.thread.me.isPinned) + chosen.filter { !$0.thread.me.isPinned }
    }

    /// All labels of the conversations, in order.
    private var labels: [String] {
        Set((conversations ?? []).flatMap(\.labels)).sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    }

    /// Shows only the threads with a label, or all.
    mutating func show(_ label: String?) {
        self.label = label
        cursor = ListCursor()
    }

    mutating func handle(_ key: Key, _ surroundings: Surroundings) -> [Action] {
        let rows = rows
        let ids = rows.map(\.id)
        if cursor.handle(key, ids: ids, pageRows: pageRows) { return [] }
        switch key {
        case .character("q"): return [.quit]
        case .character("n"): return [.show(.menu(.newConversation))]
        case .character("/"), .control("f"): return [.show(.search(nil))]
        case .character("o"): return [.show(.outbox)]
        case .character("S"): return [.show(.menu(.signOut))]
        case .character("L"):
            let labels = labels
            guard !labels.isEmpty || label != nil else {
                return [.notice(Notice(text: "No conversation has a label. Ctrl-T in a conversation sets one."))]
            }
            return [.show(.menu(.labels(labels)))]
        case .character("f"), .tab:
            filter = filter.next
            cursor = ListCursor()
            return []
        default: break
        }
        guard let index = cursor.index(in: ids) else { return [] }
        return act(key, on: rows[index].thread, surroundings)
    }

    private func act(_ key: Key, on thread: ThreadSummary, _ surroundings: Surroundings) -> [Action] {
        let me = thread.me
        switch key {
        case .enter, .right, .character("l"): return [.open(thread.id)]
        case .character("m"): return [.change(thread.id, .mute(!thread.isMuted(at: surroundings.now)))]
        case .character("p"): return [.change(thread.id, .pin(!me.isPinned))]
        case .character("a"): return [.change(thread.id, .archive(!me.isArchived))]
        case .character("u"): return thread.head > 0 ? [.markUnread(thread.id, from: thread.head)] : []
        default: return []
        }
    }

    mutating func draw(on canvas: inout Canvas, rows area: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        pageRows = area.count
        guard conversations != nil else {
            canvas.write("Loading…", column: 2, row: area.lowerBound + 1, style: .dim)
            return []
        }
        let rows = rows
        guard !rows.isEmpty else {
            for (offset, line) in emptyText.enumerated() {
                canvas.write(line, column: 2, row: area.lowerBound + 1 + offset, style: .dim)
            }
            return []
        }
        let ids = rows.map(\.id)
        let selected = cursor.index(in: ids)
        let layout = ConversationLayout(width: canvas.size.columns, surroundings: surroundings)
        for (row, index) in zip(area, cursor.visible(ids: ids, rows: area.count)) {
            let isSelected = index == selected
            if isSelected { canvas.fill(row: row, style: .reversed) }
            canvas.write(layout.line(rows[index], isSelected: isSelected), row: row)
        }
        return []
    }

    private var emptyText: [String] {
        if let label {
            return [
                "No conversation here has the label \(PlainText.line(label)).", "",
                "Press L for another one, or for all.",
            ]
        }
        return switch filter {
        case .active:
            [
                "There are no conversations yet.", "",
                "Press n to write to somebody, to create a group or to join a room.",
            ]
        case .unread: ["There is nothing unread.", "", "Press f to see the other conversations."]
        case .archived: ["Nothing is archived.", "", "Press f to see the other conversations."]
        }
    }
}

/// One conversation on one line: mark, presence, title, unread count, preview, flags, time.
struct ConversationLayout: Sendable {
    let width: Int
    let surroundings: Surroundings

    func line(_ conversation: Conversation, isSelected: Bool) -> StyledLine {
        let thread = conversation.thread
        let isUnread = thread.unreadCount > 0
        let titleWidth = max(12, min(26, width / 4))
        var line = StyledLine(isSelected ? ">" : " ", Style.bold.selected(isSelected))
        line.append(
            conversation.isPeerOnline == true ? "•" : " ", Style.colour(.green, isBold: true).selected(isSelected))
        line.append(
            thread.shownTitle.fitted(to: titleWidth), (isUnread ? Style.bold : .plain).selected(isSelected))
        line.append(" " + badge(thread), Style.colour(.cyan, isBold: true).selected(isSelected))
        let time = surroundings.calendar.shownShortly(thread.lastActivityAt, now: surroundings.now)
        let flags = flags(thread)
        let end = (flags.isEmpty ? "" : flags + " ") + time
        let room = width - line.width - end.displayWidth - 3
        let preview = preview(conversation)
        line.append(" " + preview.text.cut(to: max(0, room)), preview.style.selected(isSelected))
        line.trailing = .init(text: end + " ", style: Style.dim.selected(isSelected))
        return line
    }

    /// Five columns: "@3" for unread messages with mentions, else "3".
    private func badge(_ thread: ThreadSummary) -> String {
        guard thread.unreadCount > 0 else { return String(repeating: " ", count: 5) }
        let count = thread.unreadCount > 999 ? "999+" : "\(thread.unreadCount)"
        let text = (thread.mentionCount > 0 ? "@" : "") + count
        return String(repeating: " ", count: max(0, 5 - text.count)) + text
    }

    private func flags(_ thread: ThreadSummary) -> String {
        [
            thread.me.isPinned ? "pinned" : nil, thread.isMuted(at: surroundings.now) ? "muted" : nil,
        ].compactMap(\.self).joined(separator: " ")
    }

    private func preview(_ conversation: Conversation) -> (text: String, style: Style) {
        let thread = conversation.thread
        if thread.me.status == .invited {
            let name = thread.me.invitedBy.map(\.shownName) ?? "Somebody"
            return ("\(name) invites you", .colour(.yellow))
        }
        if conversation.unsent == .failed { return ("A message was not sent", .failure) }
        if let draft = conversation.draft, !draft.isEmpty {
            return ("Draft: \(PlainText.line(draft))", .colour(.yellow))
        }
        let prefix = conversation.unsent == .sending ? "Sending… " : ""
        guard let message = thread.lastMessage else { return (prefix, .dim) }
        return (prefix + MessageText.summary(message, me: surroundings.me, isDirect: thread.kind == .direct), .dim)
    }
}
