// One message: who reacted with what, and what it said before it was edited.
import Foundation
import Parley

struct MessageScreen: Screen {
    /// What the message said before it was edited.
    struct Version: Hashable, Sendable {
        var text: String
        var writtenAt: Date
    }

    let message: Message
    /// The people who reacted, by emoji. Those of an emoji are missing until the server has answered.
    var people: [String: [User]] = [:]
    /// The earlier versions, the latest first; nil until the server has answered.
    var versions: [Version]?
    /// Why the server did not answer, in a sentence.
    var failure: String?
    private var scroll = ScrolledLines()

    /// So many people of each emoji, and so many versions, are shown.
    static let countMax = 50

    init(_ message: Message) { self.message = message }

    var title: String { "Message of \(message.sender.map(\.shownName) ?? "the service")" }
    var acceptsText: Bool { false }
    var hints: [Hint] { [Hint("↑↓", "scroll"), Hint("Esc", "back")] }

    /// The message's emoji, the most used first.
    var emojis: [String] {
        message.reactions.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map(\.key)
    }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        switch key {
        case .escape, .character("q"), .enter, .left: return [.close]
        default: scroll.handle(key)
        }
        return []
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action] {
        let lines = lines(width: canvas.size.columns - 4, surroundings)
        scroll.draw(lines, on: &canvas, rows: rows)
        return []
    }

    private func lines(width: Int, _ surroundings: Surroundings) -> [StyledLine] {
        var lines = [StyledLine(heading(message.timestamp, surroundings), .dim)]
        lines += Self.text(MessageText.body(message), isMarked: MessageText.isText(message), width: width)
        lines += [StyledLine(), StyledLine("Reactions", .bold)]
        if emojis.isEmpty { lines.append(StyledLine("Nobody has reacted.", .dim)) }
        for emoji in emojis { lines += reaction(emoji, width: width, surroundings) }
        lines += [StyledLine(), StyledLine("Earlier versions", .bold)]
        if message.editedAt == nil {
            lines.append(StyledLine("The message was not edited.", .dim))
        } else if let versions {
            if versions.isEmpty { lines.append(StyledLine("They are no longer kept.", .dim)) }
            for version in versions {
                lines.append(StyledLine(heading(version.writtenAt, surroundings), .dim))
                let text = PlainText.lines(String(PlainText.beginning(version.text)))
                lines += Self.text(text, isMarked: true, width: width)
            }
        } else if failure == nil {
            lines.append(StyledLine("Loading…", .dim))
        }
        if let failure { lines += PlainText.lines(failure).wrapped(to: width).map { StyledLine($0, .warning) } }
        return lines
    }

    private func heading(_ date: Date, _ surroundings: Surroundings) -> String {
        "\(surroundings.calendar.shownDay(date)), \(surroundings.calendar.shownTime(date))"
    }

    private static func text(_ text: String, isMarked: Bool, width: Int) -> [StyledLine] {
        isMarked ? Marks.lines(text, width: width) : text.wrapped(to: width).map { StyledLine($0, .dim) }
    }

    /// "👍 3  You, Bob and 1 more".
    private func reaction(_ emoji: String, width: Int, _ surroundings: Surroundings) -> [StyledLine] {
        let count = message.reactions[emoji]?.count ?? 0
        let names = people[emoji].map { users in
            let names = users.map { $0.id == surroundings.me ? "You" : Sender.shown($0.name) }
            let rest = count - names.count
            return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        }
        let text = "\(PlainText.line(emoji)) \(count)  \(names ?? (failure == nil ? "Loading…" : ""))"
        return text.wrapped(to: width).map { StyledLine($0) }
    }
}
