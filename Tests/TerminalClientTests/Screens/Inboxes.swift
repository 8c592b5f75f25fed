// The list of conversations, and the frame around all screens.
import Foundation
import Parley
import Testing

@testable import TerminalClient

@Suite("The inbox", .timeLimit(.minutes(1)))
struct Inboxes {
    private func inbox(_ conversations: [Conversation]) -> InboxScreen {
        var screen = InboxScreen()
        screen.conversations = conversations
        return screen
    }

    @Test("shows who wrote what and when, what is unread, drafts, and what was not sent")
    func rows() {
        var unread = conversation("a", title: "Ann", last: message(7, "See you"), unread: 12)
        unread.thread.mentionCount = 1
        unread.isPeerOnline = true
        var draft = conversation("b", title: "Ben", last: message(1, "old"))
        draft.draft = "I would\nlike"
        var failed = conversation("c", title: "Cy")
        failed.unsent = .failed
        let invited = conversation(
            "d", title: "Dee", me: .init(status: .invited, invitedBy: Sender(id: bob, name: "Bob")))
        var screen = inbox([unread, draft, failed, invited])
        let lines = screen.lines()
        #expect(lines[0].hasPrefix(">•Ann") && lines[0].contains("@12 See you") && lines[0].hasSuffix("14:00"))
        #expect(lines[1].contains("Draft: I would like") && lines[2].contains("A message was not sent"))
        #expect(lines[3].contains("Bob invites you"))
    }

    @Test("puts pinned conversations first, and filters unread and archived ones")
    func order() {
        let pinned = conversation("p", title: "Pinned", me: .init(isPinned: true))
        let archived = conversation("x", title: "Archived", me: .init(isArchived: true))
        let muted = conversation(
            "m", title: "Muted", unread: 1, me: .init(mute: .until(noon.addingTimeInterval(9_999))))
        var screen = inbox([muted, pinned, archived])
        var lines = screen.lines()
        #expect(lines[0].contains("Pinned") && lines[0].contains("pinned") && lines[1].contains("muted"))
        #expect(!lines.joined().contains("Archived"))
        _ = screen.press(.character("f"))
        lines = screen.lines()
        #expect(lines[0].contains("Muted") && lines[1].isEmpty)
        _ = screen.press(.tab)
        #expect(screen.lines()[0].contains("Archived"))
        #expect(screen.press(.character("a")) == [.change("x", .archive(false))])
    }

    @Test("shows only the conversations with a label, of the host app's or the user's own")
    func labels() {
        var work = conversation("w", title: "Work", me: .init(labels: ["work"]))
        work.thread.labels = ["order"]
        let home = conversation("h", title: "Home", me: .init(isArchived: true, labels: ["home 10", "home 9"]))
        var screen = inbox([conversation("n", title: "None"), work, home])
        #expect(screen.hints.contains(Hint("L", "label")))
        let menu = Menu.labels(["home 9", "home 10", "order", "work"])
        #expect(screen.press(.character("L")) == [.show(.menu(menu))])
        #expect(menu.items[0].action == .showLabel(nil) && menu.items[3].action == .showLabel("order"))
        screen.show("order")
        #expect(screen.lines()[0].contains("Work") && screen.lines()[1].isEmpty)
        #expect(screen.title == "Conversations · order")
        screen.show("home 9")
        #expect(screen.lines().joined().contains("No conversation here has the label home 9."))
        _ = screen.press(.character("f"), .character("f"))
        #expect(screen.lines()[0].contains("Home"))
        screen.show(nil)
        #expect(screen.title == "Archived conversations")
        var empty = inbox([])
        if case .notice? = empty.press(.character("L")).first {} else { Issue.record("no notice") }
    }

    @Test("keeps the selected conversation when others move")
    func cursor() {
        let all = (1...40).map { conversation(ThreadID("\($0)"), title: "Thread \($0)") }
        var screen = inbox(all)
        _ = screen.press(.down, .down)
        #expect(screen.press(.enter) == [.open("3")])
        screen.conversations = [all[39]] + all[..<39]
        #expect(screen.press(.enter) == [.open("3")])
        screen.conversations = all.filter { $0.id != "3" }
        #expect(screen.press(.enter) == [.open("4")])
        _ = screen.press(.end)
        #expect(screen.lines(rows: 10)[9].hasPrefix("> Thread 40"))
        _ = screen.press(.home)
        #expect(screen.lines(rows: 10)[0].hasPrefix("> Thread 1"))
    }

    @Test("says what to do when it is empty")
    func empty() {
        var screen = inbox([])
        #expect(screen.lines().joined().contains("Press n"))
        #expect(screen.press(.enter, .character("m")).isEmpty)
    }

    @Test("mutes, pins, marks as unread, and leads to the other screens")
    func actions() {
        var screen = inbox([conversation("a", last: message(7, "x"))])
        #expect(screen.press(.character("m")) == [.change("a", .mute(true))])
        #expect(screen.press(.character("p")) == [.change("a", .pin(true))])
        #expect(screen.press(.character("u")) == [.markUnread("a", from: 7)])
        #expect(screen.press(.character("/")) == [.show(.search(nil))])
        #expect(screen.press(.character("q")) == [.quit])
    }
}

@Suite("The frame of all screens", .timeLimit(.minutes(1)))
struct Frames {
    private func interface(_ connection: Connection) -> Interface {
        var interface = Interface()
        interface.surroundings = surroundings
        interface.surroundings.connection = connection
        interface.accountName = "Ann"
        interface.unreadTotal = 3
        var inbox = InboxScreen()
        inbox.conversations = [conversation()]
        interface.push(inbox)
        return interface
    }

    @Test("names the screen, the account and the connection, and shows keys in the last row")
    func title() {
        var interface = interface(.live)
        let lines = interface.draw().canvas.lines
        #expect(lines[0].hasPrefix(" Conversations") && lines[0].hasSuffix("3 unread  Ann  online"))
        #expect(lines[1].hasPrefix("> Bob") && lines[23].hasPrefix(" Enter open"))
    }

    @Test("says how long the next try takes while the server is down")
    func offline() {
        var interface = interface(.offline(until: noon.addingTimeInterval(607), reason: "refused\u{1b}[2J"))
        let lines = interface.draw().canvas.lines
        #expect(lines[1].hasPrefix(" Offline. Next try in 7 s. What you send waits in the outbox."))
        #expect(lines[2].hasPrefix("> Bob"))
    }

    @Test("shows help for F1 everywhere, and for ? where no text is written")
    func help() {
        var interface = interface(.live)
        #expect(interface.handle(.character("?")) == [.show(.help)])
        interface.push(timeline([entry(1, "Hello")]))
        #expect(interface.handle(.character("?")) == [.saveDraft("?"), .typing])
        #expect(interface.handle(.function(1)) == [.show(.help)])
        #expect(interface.handle(.control("c")) == [.quit])
    }

    @Test("shows a notice until the next key")
    func notice() {
        var interface = interface(.live)
        interface.show(Notice(text: "Marked as unread."))
        #expect(interface.draw().canvas.lines[23] == " Marked as unread.")
        _ = interface.handle(.down)
        #expect(interface.draw().canvas.lines[23].hasPrefix(" Enter open"))
    }

    @Test("draws every screen at every size, and no line is too long")
    func sizes() {
        let screens: [any Screen] = [
            SignInScreen(server: "http://127.0.0.1:8080", message: "No."), HelpScreen(), SearchScreen(in: nil),
            MembersScreen(thread), OutboxScreen(), PeopleScreen(.direct), PromptScreen(.group),
            MenuScreen(.thread(thread, conversation().thread, now: noon)), PromptScreen(.attach(thread)),
            timeline([entry(1, "Hello")]),
        ]
        for screen in screens {
            var interface = interface(.connecting)
            interface.push(screen)
            for size in [Size(columns: 1, rows: 1), Size(columns: 40, rows: 10), Size(columns: 80, rows: 24)] {
                interface.size = size
                let canvas = interface.draw().canvas
                #expect(canvas.size == size && canvas.lines.allSatisfy { $0.displayWidth <= size.columns })
            }
        }
    }
}
