// A choice among a few actions, each with its letter.
import Foundation
import Parley

/// A question with its answers.
struct Menu: Hashable, Sendable {
    struct Item: Hashable, Sendable {
        let key: Character
        let label: String
        let action: Action

        init(_ key: Character, _ label: String, _ action: Action) {
            self.key = key
            self.label = label
            self.action = action
        }
    }

    let title: String
    let items: [Item]
}

extension Menu {
    static let signOut = Menu(
        title: "Sign out? The messages and the outbox on this machine are deleted.",
        items: [Item("y", "Yes, sign out", .signOut), Item("n", "No", .close)])

    static let newConversation = Menu(
        title: "New conversation",
        items: [
            Item("d", "Write to somebody", .show(.people(.direct))),
            Item("g", "Create a group", .show(.prompt(.group))),
            Item("r", "Join or create a room", .show(.prompt(.room))),
        ])

    /// What can be done with a conversation.
    static func thread(_ id: ThreadID, _ thread: ThreadSummary?, now: Date) -> Menu {
        let me = thread?.me ?? OwnMembership()
        let isMuted = thread?.isMuted(at: now) ?? false
        var items = [
            Item("a", "Attach a file", .show(.prompt(.attach(id)))),
            Item("s", "Search in this conversation", .show(.search(id))),
            Item("p", me.isPinned ? "Unpin" : "Pin", .change(id, .pin(!me.isPinned))),
            Item("u", isMuted ? "Unmute" : "Mute", .change(id, .mute(!isMuted))),
            Item("b", "Alert me…", .show(.menu(.alerts(id, me.notify)))),
            Item("r", me.isArchived ? "Move to the inbox" : "Archive", .change(id, .archive(!me.isArchived))),
            Item("L", "Labels", .show(.prompt(.labels(id, me.labels)))),
        ]
        guard let thread else { return Menu(title: "Conversation", items: items) }
        items.insert(Item("m", "Members", .show(.members(id))), at: 0)
        if thread.kind != .direct {
            if me.role != .member {
                items.append(Item("t", "Change the title", .show(.prompt(.rename(id)))))
                items.append(Item("o", "Change the topic", .show(.prompt(.topic(id)))))
            }
            items.append(Item("l", "Leave", .show(.menu(.leave(thread)))))
        }
        return Menu(title: thread.shownTitle, items: items)
    }

    /// The labels by which the inbox can be filtered.
    static func labels(_ labels: [String]) -> Menu {
        let keys = Array("123456789bcdefhilmnoprstuvwxyz")
        let items = labels.prefix(keys.count).enumerated().map { index, label in
            Item(keys[index], PlainText.line(label), .showLabel(label))
        }
        return Menu(title: "Show only the label", items: [Item("a", "All conversations", .showLabel(nil))] + items)
    }

    /// What alerts the user on all devices: phones and browsers, too.
    static func alerts(_ id: ThreadID, _ level: AlertLevel) -> Menu {
        func item(_ key: Character, _ label: String, _ other: AlertLevel) -> Item {
            Item(key, other == level ? "\(label)  (now)" : label, .change(id, .notify(other)))
        }
        return Menu(
            title: "Alert me, on all devices, of",
            items: [
                item("a", "All messages", .all), item("m", "Messages that mention me", .mentions),
                item("n", "No message", .none),
            ])
    }

    static func leave(_ thread: ThreadSummary) -> Menu {
        Menu(
            title: "Leave \(thread.shownTitle)?",
            items: [Item("y", "Yes, leave", .change(thread.id, .leave)), Item("n", "No", .close)])
    }

    static func delete(_ message: Message, isOwn: Bool) -> Menu {
        let everyone = Item("e", "Delete for everyone", .delete(message.id, forEveryone: true))
        let label = isOwn ? "Delete only for me" : "Delete for me"
        // An admin may delete for everyone, too; the server decides.
        return Menu(
            title: "Delete the message?",
            items: [everyone, Item("m", label, .delete(message.id, forEveryone: false)), Item("n", "No", .close)])
    }

    static func react(_ message: Message) -> Menu {
        let common = ["👍", "❤️", "😂", "🎉", "😮", "😢"].enumerated().map { index, emoji in
            let isOn = message.reactions[emoji]?.me != true
            return Item(
                Character("\(index + 1)"), isOn ? emoji : "\(emoji)  (take back)",
                .react(message.id, emoji: emoji, isOn: isOn))
        }
        let own = message.reactions.filter { emoji, reaction in
            reaction.me == true && !common.contains { $0.label.hasPrefix(emoji) }
        }
        let others = own.keys.sorted().prefix(3).enumerated().map { index, emoji in
            Item(
                Character("\(index + 7)"), "\(PlainText.line(emoji))  (take back)",
                .react(message.id, emoji: emoji, isOn: false))
        }
        return Menu(
            title: "React",
            items: common + others + [Item("o", "Another emoji", .show(.prompt(.react(message.id))))])
    }
}

/// Shows a menu. The chosen action is carried out for the screen below.
struct MenuScreen: Screen {
    let menu: Menu
    private var cursor = ListCursor<Int>()

    init(_ menu: Menu) { self.menu = menu }

    var title: String { menu.title }
    var acceptsText: Bool { false }
    var hints: [Hint] { [Hint("Enter", "choose"), Hint("↑↓", "move"), Hint("Esc", "back")] }

    mutating func handle(_ key: Key, _: Surroundings) -> [Action] {
        if case .character(let letter) = key, let item = menu.items.first(where: { $0.key == letter }) {
            return choose(item)
        }
        let ids = Array(menu.items.indices)
        if cursor.handle(key, ids: ids, pageRows: 10) { return [] }
        switch key {
        case .enter: return cursor.index(in: ids).map { choose(menu.items[$0]) } ?? []
        case .escape, .left, .character("q"): return [.close]
        default: return []
        }
    }

    private func choose(_ item: Menu.Item) -> [Action] { item.action == .close ? [.close] : [.close, item.action] }

    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _: Surroundings) -> [Action] {
        let ids = Array(menu.items.indices)
        let selected = cursor.index(in: ids)
        for (row, index) in zip(rows.dropFirst(), cursor.visible(ids: ids, rows: rows.count - 1)) {
            let isSelected = index == selected
            if isSelected { canvas.fill(row: row, style: .reversed) }
            canvas.write(isSelected ? ">" : " ", column: 1, row: row, style: Style.bold.selected(isSelected))
            canvas.write(String(menu.items[index].key), column: 3, row: row, style: Style.bold.selected(isSelected))
            canvas.write(menu.items[index].label, column: 6, row: row, style: Style.plain.selected(isSelected))
        }
        return []
    }
}
