// One entry of a timeline as lines.
import Foundation
import Parley

struct EntryLayout: Sendable {
    let width: Int
    let surroundings: Surroundings
    /// Messages by id, for quotations.
    var quoted: [MessageID: Message] = [:]
    /// Long messages of which all is shown.
    var whole: Set<MessageID> = []

    /// Mark, time, gap. Text begins behind it.
    private static let gutter = 8
    /// "delivered", "read 12/99", and a gap.
    private static let deliveryWidth = 12
    /// After this time the sender's name is repeated.
    private static let groupSeconds = 900.0

    /// The lines of one entry. The entries above decide about the day and the name.
    func lines(_ index: Int, of entries: [TimelineEntry], isSelected: Bool) -> [StyledLine] {
        let heading = heading(index, of: entries)
        let body: [StyledLine] =
            switch entries[index] {
            case .message(let message, let delivery): body(message, delivery)
            case .unsent(let unsent): body(unsent)
            case .divider: [.rule(dividerText(index, of: entries), width: width, style: .colour(.yellow, isBold: true))]
            case .hole: [StyledLine(indent + "Loading…", .dim)]
            }
        return heading + (isSelected ? mark(body) : body)
    }

    private func mark(_ lines: [StyledLine]) -> [StyledLine] {
        lines.map { line in
            guard let first = line.spans.first, first.text.hasPrefix(" ") else { return line }
            var marked = line
            marked.spans[0].text = String(first.text.dropFirst())
            marked.spans.insert(.init(text: "▌", style: .colour(.cyan, isBold: true)), at: 0)
            return marked
        }
    }

    private var indent: String { String(repeating: " ", count: Self.gutter) }

    // MARK: Day and sender

    /// Whether the day stands above an entry: above the first message of each day.
    func showsDay(_ index: Int, of entries: [TimelineEntry]) -> Bool {
        guard let message = entries[index].message else { return false }
        let before = entries[..<index].last { $0.message != nil }?.message
        return before.map { !surroundings.calendar.isDate($0.timestamp, inSameDayAs: message.timestamp) } ?? true
    }

    /// The divider is where one begins to read, often far below the day's first message.
    private func dividerText(_ index: Int, of entries: [TimelineEntry]) -> String {
        guard let next = entries[index...].firstIndex(where: { $0.message != nil }), !showsDay(next, of: entries),
            let message = entries[next].message
        else { return "New messages" }
        return "New messages · \(surroundings.calendar.shownDay(message.timestamp))"
    }

    private func heading(_ index: Int, of entries: [TimelineEntry]) -> [StyledLine] {
        let above = index > 0 ? entries[index - 1] : nil
        switch entries[index] {
        case .divider, .hole: return []
        case .unsent:
            let goesOn = above?.unsent != nil || above?.message.map { $0.sender?.id == surroundings.me } ?? false
            return goesOn ? [] : [ownName]
        case .message(let message, _):
            let before = entries[..<index].last { $0.message != nil }?.message
            let isSameDay = !showsDay(index, of: entries)
            let day = StyledLine.rule(surroundings.calendar.shownDay(message.timestamp), width: width, style: .dim)
            let lines = isSameDay ? [] : [day]
            guard let sender = message.sender else { return lines }
            let goesOn =
                isSameDay && above?.message?.sender?.id == sender.id
                && message.timestamp.timeIntervalSince(before?.timestamp ?? .distantPast) < Self.groupSeconds
            return goesOn ? lines : lines + [name(sender)]
        }
    }

    private var ownName: StyledLine { StyledLine(" You", .colour(.green, isBold: true)) }

    private func name(_ sender: Sender) -> StyledLine {
        if sender.id == surroundings.me { return ownName }
        let colours: [Colour] = [.cyan, .magenta, .yellow, .blue, .palette(14), .palette(13)]
        let sum = sender.id.rawValue.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff }
        return StyledLine(
            " " + sender.shownName.cut(to: width - 2), .colour(colours[sum % colours.count], isBold: true))
    }

    // MARK: Messages

    private func body(_ message: Message, _ delivery: Delivery?) -> [StyledLine] {
        if message.type == .system {
            let text = MessageText.body(message)
            return text.isEmpty ? [] : text.wrapped(to: width - 10).map { centred($0) }
        }
        let room = width - Self.gutter - (delivery == nil ? 1 : Self.deliveryWidth)
        var content: [StyledLine] = quotation(message.replyTo, width: room)
        let isText = MessageText.isText(message)
        let hasOnlyFiles = !message.attachments.isEmpty && (message.text ?? "").isEmpty
        if !hasOnlyFiles {
            let isWhole = whole.contains(message.id)
            let text = MessageText.body(message, isWhole: isWhole)
            content +=
                isText
                ? Marks.lines(text, width: room)
                : text.wrapped(to: room).map { StyledLine($0, Style(isDim: true, isItalic: true)) }
            if !isWhole, MessageText.isLong(message) {
                content += "… Press Tab, then m to show more.".wrapped(to: room).map { StyledLine($0, .dim) }
            }
        }
        if message.editedAt != nil, !message.isDeleted, let last = content.indices.last {
            if content[last].width + 9 <= room {
                content[last].append(" (edited)", .dim)
            } else {
                content.append(StyledLine("(edited)", .dim))
            }
        }
        content += message.attachments.map { attachment($0, width: room) }
        if !message.reactions.isEmpty, !message.isDeleted { content += reactions(message.reactions, width: room) }
        let mentionsMe = surroundings.me.map { message.mentions.contains($0) } ?? false
        let time = StyledLine(" " + surroundings.calendar.shownTime(message.timestamp), mentionsMe ? .warning : .dim)
            .appending(mentionsMe ? "@ " : "  ", .colour(.yellow, isBold: true))
        var lines = assemble(content, time: time)
        if let delivery { lines[lines.count - 1].trailing = .init(text: delivery.words + " ", style: .dim) }
        return lines
    }

    private func body(_ unsent: UnsentMessage) -> [StyledLine] {
        let room = width - Self.gutter - Self.deliveryWidth
        var content = quotation(unsent.replyTo, width: room)
        if !unsent.text.isEmpty { content += Marks.lines(PlainText.lines(unsent.text), width: room) }
        content += unsent.fileNames.map { StyledLine("[file] \(PlainText.line($0))".cut(to: room), .dim) }
        let state: (text: String, style: Style) =
            switch unsent.state {
            case .waiting: ("waiting", .dim)
            case .uploading(let fraction): ("\(Int((fraction * 100).rounded(.down))) %", .dim)
            case .sending: ("sending", .dim)
            case .pending: ("in review", .dim)
            case .failed: ("not sent", .failure)
            }
        var lines = assemble(content, time: StyledLine("   …    ", .dim))
        lines[lines.count - 1].trailing = .init(text: state.text + " ", style: state.style)
        if case .failed(let reason) = unsent.state {
            lines += "\(reason) Press Tab, then r to retry or d to discard.".wrapped(to: room)
                .map { StyledLine(indent + $0, .failure) }
        }
        return lines
    }

    /// Puts the time before the first line and spaces before the others.
    private func assemble(_ content: [StyledLine], time: StyledLine) -> [StyledLine] {
        (content.isEmpty ? [StyledLine()] : content).enumerated().map { index, line in
            var whole = index == 0 ? time : StyledLine(indent)
            whole.spans += line.spans
            return whole
        }
    }

    private func centred(_ text: String) -> StyledLine {
        StyledLine(String(repeating: " ", count: max(1, (width - text.displayWidth) / 2)) + text, .dim)
    }

    private func quotation(_ id: MessageID?, width: Int) -> [StyledLine] {
        guard let id else { return [] }
        let text = quoted[id].map { message in
            let name = message.sender.map { $0.id == surroundings.me ? "You" : $0.shownName } ?? ""
            return "\(name): \(MessageText.line(message))"
        }
        return [StyledLine("┃ \(text ?? "An earlier message")".cut(to: width), .dim)]
    }

    private func attachment(_ attachment: Attachment, width: Int) -> StyledLine {
        let link = surroundings.links[attachment.id].flatMap(PlainText.link)
        return StyledLine(
            MessageText.describe(attachment).cut(to: width),
            Style(foreground: .blue, isUnderlined: link != nil, link: link))
    }

    private func reactions(_ reactions: [String: Reaction], width: Int) -> [StyledLine] {
        var lines = [StyledLine()]
        for (emoji, reaction) in reactions.sorted(by: { ($1.value.count, $0.key) < ($0.value.count, $1.key) }) {
            let isMine = reaction.me == true
            let text = "\(isMine ? "[" : "")\(PlainText.line(emoji)) \(reaction.count)\(isMine ? "]" : "")"
            if lines[lines.count - 1].width + text.displayWidth + 2 > width { lines.append(StyledLine()) }
            lines[lines.count - 1].append(text + "  ", isMine ? .bold : .plain)
        }
        return lines
    }
}
