// A conversation: its messages, and the line where one writes. Drawing is in TimelineScreen+drawing.swift.
import Foundation
import Parley

struct TimelineScreen: Screen {
    let threadID: ThreadID
    /// It is nil until the store has been read.
    var conversation: Conversation?
    var entries: [TimelineEntry] = [] { didSet { entriesChanged(from: oldValue) } }
    var members: [Member] = []
    /// People who are writing now.
    var typists: [UserID] = []
    /// Whether there is nothing before the first entry, and nothing after the last one.
    var atStart = false
    var atEnd = true
    var isLoadingEarlier = false
    var isLoadingLater = false
    var composer = Composer()

    var viewport = Viewport<TimelineEntry.ID>()
    /// The selected message; nil while one writes.
    var selection: TimelineEntry.ID?
    /// Long messages of which all is shown.
    var whole: Set<MessageID> = []
    /// The message to show first, from a search.
    var target: MessageID?
    /// Whether the place to begin has been found.
    var isPlaced = false
    /// The size of the list when it was drawn last.
    var listSize = Size(columns: 80, rows: 18)
    /// The entries that were visible as a whole.
    var visible: ClosedRange<Int>?
    /// The highest seq that was reported as read.
    var markedSeq: Seq = 0
    private var lastTypingAt = Date.distantPast

    /// The server shows a typist for 6 s.
    private static let typingInterval = 4.0

    init(_ threadID: ThreadID, target: MessageID? = nil) {
        self.threadID = threadID
        self.target = target
    }

    /// The topic follows the title, and is cut where the line ends.
    var title: String {
        guard let thread = conversation?.thread else { return "" }
        return [thread.shownTitle, thread.topic.map(PlainText.line)].compactMap(\.self).joined(separator: " · ")
    }
    var acceptsText: Bool { selection == nil && !isInvitation }
    var isInvitation: Bool { conversation?.thread.me.status == .invited }

    var hints: [Hint] {
        if isInvitation { return [Hint("Enter", "join"), Hint("d", "decline"), Hint("Esc", "back")] }
        if let selected {
            if selected.unsent != nil { return [Hint("r", "retry"), Hint("d", "discard"), Hint("Esc", "write")] }
            let files = selected.message?.attachments ?? []
            let isCut = selected.message.map { MessageText.isLong($0) && !whole.contains($0.id) } ?? false
            return (isCut ? [Hint("m", "more")] : []) + [
                Hint("r", "reply"), Hint("+", "react"), Hint("e", "edit"), Hint("d", "delete"), Hint("i", "details"),
            ]
                + (files.isEmpty ? [] : [Hint("s", "save")])
                + (files.contains { $0.width != nil } ? [Hint("v", "view")] : [])
                + [Hint("u", "unread"), Hint("↑↓", "move"), Hint("Esc", "write")]
        }
        return [
            Hint("Enter", "send"), Hint("Tab", "select"), Hint("PgUp", "earlier"), Hint("^O", "attach"),
            Hint("^T", "more"), Hint("^F", "search"), Hint("F1", "help"), Hint("Esc", "back"),
        ]
    }

    var selected: TimelineEntry? { selection.flatMap { id in entries.first { $0.id == id } } }

    // MARK: Keys

    mutating func handle(_ key: Key, _ surroundings: Surroundings) -> [Action] {
        switch key {
        case .pageUp: scroll(up: listSize.rows - 2, surroundings)
        case .pageDown: scroll(up: 2 - listSize.rows, surroundings)
        case .control("t"): return [.show(.menu(.thread(threadID, conversation?.thread, now: surroundings.now)))]
        case .control("f"): return [.show(.search(threadID))]
        case .control("o"): return isInvitation ? [] : [.show(.prompt(.attach(threadID)))]
        default:
            if isInvitation { return handleInvitation(key) }
            return selection == nil ? write(key, surroundings) : choose(key, surroundings)
        }
        return []
    }

    private func handleInvitation(_ key: Key) -> [Action] {
        switch key {
        case .enter, .character("y"): [.change(threadID, .join)]
        case .character("d"): [.change(threadID, .leave), .close]
        case .escape, .character("q"): [.close]
        default: []
        }
    }

    /// Keys while one writes.
    private mutating func write(_ key: Key, _ surroundings: Surroundings) -> [Action] {
        switch key {
        case .enter:
            guard let action = composer.action(members: members) else { return [] }
            composer.clear()
            viewport.showEnd()
            // What is written next is news.
            lastTypingAt = .distantPast
            return [action, .saveDraft("")] + (atEnd ? [] : [.jumpToNewest])
        case .escape: return composer.cancel() ? [] : [.close]
        case .tab, .backTab:
            select(entries.lastIndex(where: \.isMessage), surroundings)
            return []
        case .end where composer.field.isEmpty:
            viewport.showEnd()
            return atEnd ? [] : [.jumpToNewest]
        case .up where composer.field.isEmpty && composer.mode == .new: return editLast(surroundings)
        case .down where composer.field.isEmpty:
            scroll(up: -1, surroundings)
            return []
        default:
            let before = composer.field.text
            guard composer.field.handle(key), composer.field.text != before else { return [] }
            return typed(surroundings)
        }
    }

    private mutating func typed(_ surroundings: Surroundings) -> [Action] {
        if case .edit = composer.mode { return [] }
        var actions = [Action.saveDraft(composer.field.text)]
        if !composer.field.isEmpty, surroundings.now.timeIntervalSince(lastTypingAt) > Self.typingInterval {
            lastTypingAt = surroundings.now
            actions.append(.typing)
        }
        return actions
    }

    private mutating func editLast(_ surroundings: Surroundings) -> [Action] {
        let own = entries.last {
            guard let message = $0.message else { return false }
            return message.sender?.id == surroundings.me && message.text != nil && !message.isDeleted
        }
        guard let message = own?.message else {
            return [.notice(Notice(text: "There is no message of yours to edit."))]
        }
        composer.beginEditing(message)
        return []
    }

    /// Keys while a message is selected.
    private mutating func choose(_ key: Key, _ surroundings: Surroundings) -> [Action] {
        let index = selection.flatMap { id in entries.firstIndex { $0.id == id } } ?? entries.count
        switch key {
        case .up, .character("k"): select(entries[..<index].lastIndex(where: \.isMessage), surroundings)
        case .down, .character("j"):
            let next = entries.indices.first { $0 > index && entries[$0].isMessage }
            if next == nil { selection = nil } else { select(next, surroundings) }
        case .home: select(entries.firstIndex(where: \.isMessage), surroundings)
        case .end: select(entries.lastIndex(where: \.isMessage), surroundings)
        case .escape, .tab, .backTab: selection = nil
        default:
            if let unsent = selected?.unsent { return act(key, on: unsent) }
            if let message = selected?.message { return act(key, on: message, surroundings) }
        }
        return []
    }

    private mutating func act(_ key: Key, on unsent: UnsentMessage) -> [Action] {
        switch key {
        case .character("r"), .enter: return [.retry(unsent.id)]
        case .character("d"), .delete:
            selection = nil
            return [.discard(unsent.id)]
        default: return []
        }
    }

    private mutating func act(_ key: Key, on message: Message, _ surroundings: Surroundings) -> [Action] {
        let isOwn = message.sender?.id == surroundings.me
        switch key {
        case .enter, .character("i"): return [.show(.message(message))]
        case .character("r"):
            composer.mode = .reply(message)
            selection = nil
        case .character("e"):
            guard isOwn, message.text != nil, !message.isDeleted else {
                return [.notice(Notice(text: "Only your own text messages can be edited."))]
            }
            composer.beginEditing(message)
            selection = nil
        case .character("d"), .delete: return [.show(.menu(.delete(message, isOwn: isOwn)))]
        case .character("+"), .character("a"): return [.show(.menu(.react(message)))]
        case .character("u"): return [.markUnread(threadID, from: message.seq)]
        case .character("s"):
            return message.attachments.first.map { [.show(.prompt(.save($0)))] } ?? []
        case .character("v"):
            return message.attachments.first { $0.width != nil }.map { [.showPicture($0)] } ?? []
        case .character("m"):
            guard MessageText.isLong(message), let index = entries.firstIndex(where: { $0.id == selection }) else {
                break
            }
            let before = content(surroundings).height(index)
            whole.insert(message.id)
            // What was in the window stays there.
            scroll(up: content(surroundings).height(index) - before, surroundings)
        case .character("q"): return [.close]
        default: break
        }
        return []
    }

    // MARK: Scrolling

    private mutating func select(_ index: Int?, _ surroundings: Surroundings) {
        guard let index else { return }
        selection = entries[index].id
        viewport.reveal(index, rows: listSize.rows, content(surroundings))
    }

    private mutating func scroll(up lines: Int, _ surroundings: Surroundings) {
        viewport.scroll(up: lines, rows: listSize.rows, content(surroundings))
    }

    private mutating func entriesChanged(from old: [TimelineEntry]) {
        if let selection, !entries.contains(where: { $0.id == selection }) { self.selection = nil }
        // The anchor may have become another entry: then the window stays where the next one is.
        if let anchor = viewport.anchor, !entries.contains(where: { $0.id == anchor.id }) { viewport.showEnd() }
    }
}
