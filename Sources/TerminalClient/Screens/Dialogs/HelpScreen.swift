// All keys on one page.

struct HelpScreen: Screen {
    private var scroll = ScrolledLines()

    init() {}

    var title: String { "Help" }
    var acceptsText: Bool { false }
    var hints: [Hint] { [Hint("↑↓", "scroll"), Hint("Esc", "back")] }

    /// A group of keys. docs/chat.md has the same table; a test compares them.
    struct Section: Sendable {
        let title: String
        let keys: [Hint]
    }

    static let sections = [
        Section(
            title: "Everywhere",
            keys: [
                Hint("F1, ?", "help (? where no text is written)"), Hint("Esc", "back"), Hint("Ctrl-L", "draw again"),
                Hint("Ctrl-Z", "stop; fg in the shell continues"), Hint("Ctrl-C", "quit"),
            ]),
        Section(
            title: "Conversations",
            keys: [
                Hint("↑ ↓, k j", "move"), Hint("Enter", "open"), Hint("n", "new conversation"), Hint("/", "search"),
                Hint("f", "show unread, archived or all others"),
                Hint("L", "show only a label"), Hint("m", "mute or unmute"),
                Hint("p", "pin or unpin"), Hint("a", "archive, or move to the inbox"),
                Hint("u", "mark as unread"),
                Hint("o", "messages that are not sent yet"), Hint("S", "sign out"), Hint("q", "quit"),
            ]),
        Section(
            title: "Writing",
            keys: [
                Hint("Enter", "send"), Hint("Alt-Enter, Ctrl-J", "line break"), Hint("↑", "edit the last own message"),
                Hint("Tab", "select a message"), Hint("PgUp, PgDn", "scroll"), Hint("End", "to the newest message"),
                Hint("Ctrl-O", "attach a file"), Hint("Ctrl-T", "members, mute, pin, archive, labels, title, leave"),
                Hint("Ctrl-F", "search in the conversation"),
                Hint("Ctrl-W, Ctrl-U, Ctrl-K", "delete word, to start, to end"),
                Hint("Alt-B, Alt-F", "move by words"),
            ]),
        Section(
            title: "A selected message",
            keys: [
                Hint("↑ ↓, k j", "another message"), Hint("r", "reply; retry if it was not sent"), Hint("+", "react"),
                Hint("Enter, i", "who reacted, earlier versions"),
                Hint("e", "edit"), Hint("d", "delete; discard if it was not sent"), Hint("s", "save its file"),
                Hint("v", "show its picture"), Hint("m", "show all of a long text"),
                Hint("u", "mark as unread from here"), Hint("Tab, Esc", "write again"),
            ]),
    ]

    private var lines: [StyledLine] {
        Self.sections.flatMap { section in
            [StyledLine(section.title, .bold)]
                + section.keys.map { StyledLine("  " + $0.key.fitted(to: 24), .colour(.cyan)).appending($0.effect) }
                + [StyledLine()]
        }
    }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        switch key {
        case .escape, .character("q"), .enter, .function(1), .character("?"): return [.close]
        default: scroll.handle(key)
        }
        return []
    }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        scroll.draw(lines, on: &canvas, rows: rows)
        return []
    }
}
