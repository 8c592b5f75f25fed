// Draws a conversation, finds the place to begin, and notices what was read.
import Foundation
import Parley

extension TimelineScreen {
    /// The entries with their heights in the present width.
    func content(_ surroundings: Surroundings) -> Viewport<TimelineEntry.ID>.Content {
        let layout = layout(surroundings)
        return .init(ids: entries.map(\.id)) { index in
            max(1, layout.lines(index, of: entries, isSelected: false).count)
        }
    }

    private func layout(_ surroundings: Surroundings) -> EntryLayout {
        let messages = entries.compactMap(\.message)
        return EntryLayout(
            width: listSize.columns, surroundings: surroundings,
            quoted: Dictionary(messages.map { ($0.id, $0) }) { $1 }, whole: whole)
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        let composerRows = isInvitation ? 1 : composer.rowCount(width: canvas.size.columns)
        let list = rows.lowerBound..<max(rows.lowerBound + 1, rows.upperBound - composerRows - 1)
        let size = Size(columns: canvas.size.columns, rows: list.count)
        let isResized = size != listSize
        listSize = size
        let content = content(surroundings)
        place(content)
        // A smaller window, for example while a long message is written, must not hide the selected message.
        if isResized, let selection, let index = content.ids.firstIndex(of: selection) {
            viewport.reveal(index, rows: size.rows, content)
        }
        drawEntries(on: &canvas, rows: list, content, surroundings)
        drawBorder(on: &canvas, row: list.upperBound, surroundings)
        let field = list.upperBound + 1..<rows.upperBound
        if isInvitation {
            let name = conversation?.thread.me.invitedBy.map(\.shownName) ?? "Somebody"
            canvas.write("\(name) invites you. Press Enter to join.", column: 1, row: field.lowerBound, style: .bold)
        } else {
            composer.draw(on: &canvas, rows: field, hasCursor: selection == nil)
        }
        return wanted(content, surroundings)
    }

    /// Begins at the message that was searched for, at the first unread one, or at the end.
    private mutating func place(_ content: Viewport<TimelineEntry.ID>.Content) {
        guard !isPlaced, entries.contains(where: \.isMessage) else { return }
        if let target {
            guard let index = content.ids.firstIndex(of: .message(target)) else { return }
            selection = .message(target)
            viewport.showAtTop(index, offset: listSize.rows / 3, rows: listSize.rows, content)
        } else if let index = content.ids.firstIndex(of: .divider) {
            viewport.showAtTop(index, rows: listSize.rows, content)
        }
        isPlaced = true
    }

    /// Draws from the bottom up.
    private mutating func drawEntries(
        on canvas: inout Canvas, rows: Range<Int>, _ content: Viewport<TimelineEntry.ID>.Content,
        _ surroundings: Surroundings
    ) {
        visible = nil
        guard var (index, hidden) = viewport.bottom(content) else {
            if conversation != nil {
                let text = atStart ? "There are no messages yet." : "Loading…"
                canvas.write(text, column: 2, row: rows.lowerBound + 1, style: .dim)
            }
            return
        }
        let layout = layout(surroundings)
        var row = rows.upperBound - 1
        var last: Int?
        while row >= rows.lowerBound, index >= 0 {
            let lines = layout.lines(index, of: entries, isSelected: entries[index].id == selection)
            for line in (lines.isEmpty ? [StyledLine()] : lines).dropLast(hidden).reversed()
            where row >= rows.lowerBound {
                canvas.write(line, row: row)
                row -= 1
            }
            if hidden == 0 { last = last ?? index }
            hidden = 0
            if let last { visible = min(index, last)...last }
            index -= 1
        }
    }

    /// The line between the messages and the composer says what is happening.
    private func drawBorder(on canvas: inout Canvas, row: Int, _ surroundings: Surroundings) {
        var line = StyledLine("──", .dim)
        if let heading = composer.heading {
            line.append(" \(heading) ", .colour(.cyan))
        } else if let text = typingText {
            line.append(" \(text) ", .italic)
        } else if let presence = presenceText {
            line.append(" \(presence) ", .dim)
        }
        let below = viewport.sticksToEnd && atEnd ? "" : newBelowText
        let room = listSize.columns - line.width - below.displayWidth
        let day = dayText(surroundings).map { " \($0) " } ?? ""
        if !day.isEmpty, day.displayWidth + 4 <= room {
            line.append(String(repeating: "─", count: room - day.displayWidth - 2) + day + "──", .dim)
        } else {
            line.append(String(repeating: "─", count: max(0, room)), .dim)
        }
        line.append(below, .colour(.yellow, isBold: true))
        canvas.write(line, row: row)
    }

    /// The day of the first message in the window if it is not today and does not stand above the message: after a
    /// jump, or between the messages of a long day.
    private func dayText(_ surroundings: Surroundings) -> String? {
        guard let visible, let index = visible.first(where: { entries[$0].message != nil }),
            let message = entries[index].message,
            !surroundings.calendar.isDate(message.timestamp, inSameDayAs: surroundings.now),
            !layout(surroundings).showsDay(index, of: entries)
        else { return nil }
        return surroundings.calendar.shownDay(message.timestamp)
    }

    private var typingText: String? {
        let names = typists.map { id in
            let user = members.first { $0.id == id }?.user ?? conversation?.thread.peer
            return Sender.shown(user?.name ?? "Somebody").cut(to: 20)
        }
        switch names.count {
        case 0: return nil
        case 1: return "\(names[0]) is typing…"
        case 2: return "\(names[0]) and \(names[1]) are typing…"
        default: return "\(names.count) people are typing…"
        }
    }

    private var presenceText: String? {
        guard let conversation else { return nil }
        let thread = conversation.thread
        if let peer = thread.peer {
            return conversation.isPeerOnline.map { "\(Sender.shown(peer.name)) is \($0 ? "online" : "offline")" }
        }
        return thread.memberCount == 1 ? "1 member" : "\(thread.memberCount) members"
    }

    private var newBelowText: String {
        let below =
            viewport.anchor.flatMap { anchor in entries.firstIndex { $0.id == anchor.id } }
            .map { entries[($0 + 1)...].count(where: \.isMessage) } ?? 0
        return below > 0 ? " \(below)\(atEnd ? "" : "+") below: End ↓ " : " more below: End ↓ "
    }

    /// What is missing at the edges, and what was read.
    private mutating func wanted(
        _ content: Viewport<TimelineEntry.ID>.Content, _ surroundings: Surroundings
    ) -> [Action] {
        var actions: [Action] = []
        guard conversation != nil, !isInvitation else { return [] }
        // A page ahead, so that scrolling rarely waits.
        let first = visible?.lowerBound ?? 0
        if first < 15, !atStart, !isLoadingEarlier, !entries.isEmpty || isPlaced {
            isLoadingEarlier = true
            actions.append(.loadEarlier)
        }
        if let last = visible?.upperBound, last > entries.count - 15, !atEnd, !isLoadingLater {
            isLoadingLater = true
            actions.append(.loadLater)
        }
        guard let visible else { return actions }
        let messages = entries[visible].compactMap(\.message)
        if isPlaced, let seq = messages.last(where: { $0.sender?.id != surroundings.me })?.seq, seq > markedSeq {
            markedSeq = seq
            actions.append(.markRead(seq))
        }
        for attachment in messages.flatMap(\.attachments) where surroundings.links[attachment.id] == nil {
            actions.append(.link(attachment.id))
        }
        return actions
    }
}
