// A conversation on the screen.
import Foundation
import Parley
import Testing

@testable import TerminalClient

@Suite("A timeline", .timeLimit(.minutes(1)))
struct Timelines {
    @Test("shows days, names, times, and how far own messages are")
    func conversation() {
        var screen = timeline([
            entry(1, "Hello", minute: -1_440), entry(2, "Are you there?"), entry(3, "Yes", from: ann, minute: 1),
        ])
        let lines = screen.lines(columns: 60, rows: 12)
        #expect(lines.filter { $0.contains("November") }.count == 2)
        #expect(
            lines.contains(" 14:00  Are you there?")
                && lines.contains { $0.hasPrefix(" 14:01  Yes") && $0.hasSuffix("sent") })
    }

    @Test("repeats a name only after another person, a pause or the divider")
    func groups() {
        var screen = timeline([entry(1, "a"), entry(2, "b", minute: 1), entry(3, "c", minute: 30)])
        #expect(screen.lines().count { $0 == " Bob" } == 2)
        screen.entries.insert(.divider, at: 1)
        #expect(screen.lines().count { $0 == " Bob" } == 3)
        #expect(screen.lines().contains { $0.contains(" New messages ") })
    }

    @Test("names the day at the divider, and of what is in the window after a jump")
    func dayAfterAJump() {
        var entries = (1...60).map { entry($0, "message \($0)", minute: Double($0) - 1_440) }
        var screen = timeline(entries)
        #expect(screen.lines()[20].hasSuffix(" Sunday, 22 November 2026 ──"))
        screen.target = "message-20"
        screen.isPlaced = false
        #expect(screen.lines()[20].contains(" Sunday, 22 November 2026 ──"))
        // At the first message the day stands above it.
        _ = screen.press(.home)
        #expect(screen.lines()[0].contains("Sunday") && !screen.lines()[20].contains("Sunday"))
        entries.insert(.divider, at: 30)
        screen = timeline(entries)
        #expect(screen.lines()[0].contains(" New messages · Sunday, 22 November 2026 "))
        // Of today the border says nothing.
        screen = timeline((1...60).map { entry($0, "message \($0)") })
        #expect(!screen.lines()[20].contains("November"))
    }

    @Test("shows a message without its marks, and its details on Enter")
    func marks() {
        var screen = timeline([entry(1, "see **this** `code`")])
        #expect(screen.lines().contains(" 14:00  see this code"))
        #expect(screen.press(.tab, .enter) == [.show(.message(message(1, "see **this** `code`")))])
        #expect(MessageText.line(message(1, "see **this**\n`code`")) == "see this code")
    }

    @Test("opens at the first unread message, and reports as read what is visible")
    func firstUnread() {
        var entries = (1...60).map { entry($0, "message \($0)") }
        entries.insert(.divider, at: 30)
        var screen = timeline(entries)
        let shown = screen.shown()
        #expect(shown.lines[0].contains("New messages") && shown.lines[2].hasSuffix("message 31"))
        // 20 rows: divider, name, 18 messages.
        #expect(shown.wanted.contains(.markRead(48)))
        #expect(shown.lines[20].contains("12 below"))
        _ = screen.press(.pageDown)
        #expect(screen.shown().wanted.contains(.markRead(60)))
        #expect(!screen.shown().wanted.contains { if case .markRead = $0 { true } else { false } })
    }

    @Test("stays where the user reads when messages arrive, and follows the end otherwise")
    func following() {
        var screen = timeline((1...60).map { entry($0, "message \($0)") })
        #expect(screen.lines()[19].hasSuffix("message 60"))
        screen.entries.append(entry(61, "message 61"))
        #expect(screen.lines()[19].hasSuffix("message 61"))
        _ = screen.press(.pageUp)
        let before = screen.lines()
        screen.entries.append(entry(62, "message 62"))
        #expect(screen.lines()[..<20] == before[..<20])
        screen.entries.insert(contentsOf: (1...20).map { entry(-$0, "early") }, at: 0)
        #expect(screen.lines()[1..<20] == before[1..<20])
        #expect(screen.lines()[20].contains("19 below"))
        _ = screen.press(.end)
        #expect(screen.lines()[19].hasSuffix("message 62"))
    }

    @Test("asks for earlier messages before the first one is reached, and once")
    func earlier() {
        var screen = timeline((1...40).map { entry($0, "message \($0)") })
        screen.atStart = false
        #expect(!screen.shown().wanted.contains(.loadEarlier))
        _ = screen.press(.pageUp)
        #expect(screen.shown().wanted.contains(.loadEarlier))
        #expect(!screen.shown().wanted.contains(.loadEarlier))
        screen.isLoadingEarlier = false
        #expect(screen.shown().wanted.contains(.loadEarlier))
    }

    @Test("sends, and clears the line")
    func sending() {
        var screen = timeline([entry(1, "Hello")])
        #expect(screen.type("Hi").first == .saveDraft("H"))
        _ = screen.press(.newline)
        _ = screen.type("there")
        #expect(screen.press(.enter).first == .send(Draft(text: "Hi\nthere")))
        #expect(screen.composer.field.isEmpty && screen.press(.enter).isEmpty)
    }

    @Test("names the members whom a message mentions")
    func mentions() {
        let members = [
            Member(user: User(id: bob, username: "Bob7", name: "Bob")), Member(user: User(id: ann, name: "Ann")),
        ]
        #expect(Composer.mentions(in: "Hi @bob7, and @nobody", of: members) == [bob])
        #expect(Composer.mentions(in: "bob7@example.com", of: members) == [])
    }

    @Test("replies, edits, deletes and reacts to the selected message")
    func selecting() {
        var screen = timeline([entry(1, "Hello"), entry(2, "Mine", from: ann)])
        _ = screen.lines()
        _ = screen.press(.tab, .up)
        #expect(screen.selected?.message?.seq == 1)
        #expect(screen.lines().contains("▌14:00  Hello"))
        #expect(screen.press(.character("u")) == [.markUnread(thread, from: 1)])
        if case .show(.menu(let menu))? = screen.press(.character("d")).first {
            #expect(menu.items.map(\.action).contains(.delete("message-1", forEveryone: false)))
        } else {
            Issue.record("no menu")
        }
        _ = screen.press(.character("r"))
        #expect(screen.selection == nil && screen.lines()[20].contains("Reply to Bob: Hello"))
        _ = screen.type("Yes")
        #expect(screen.press(.enter).first == .send(Draft(text: "Yes", replyTo: "message-1")))
        // Up edits the last own message.
        _ = screen.press(.up)
        #expect(screen.composer.field.text == "Mine" && screen.lines()[20].contains("Edit the message"))
        #expect(screen.type("!").isEmpty)
        #expect(screen.press(.enter).first == .edit("message-2", text: "Mine!"))
    }

    @Test("others' messages cannot be edited")
    func notEditing() {
        var screen = timeline([entry(1, "Hello")])
        _ = screen.lines()
        #expect(
            screen.press(.tab, .character("e")) == [.notice(Notice(text: "Only your own text messages can be edited."))]
        )
    }

    @Test("shows what waits and what was refused, to be sent again or discarded")
    func unsent() {
        let failed = UnsentMessage(id: "x", threadID: thread, text: "Hm", state: .failed("You are not a member."))
        let waiting = UnsentMessage(
            id: "y", threadID: thread, text: "Ho", fileNames: ["a.png"], state: .uploading(0.42))
        var screen = timeline([.unsent(failed), .unsent(waiting)])
        let lines = screen.lines()
        #expect(lines.contains { $0.contains("Hm") && $0.hasSuffix("not sent") })
        #expect(lines.contains { $0.contains("You are not a member.") })
        #expect(lines.contains { $0.contains("a.png") && $0.hasSuffix("42 %") })
        #expect(screen.press(.tab, .up, .character("r")) == [.retry("x")])
        #expect(screen.press(.character("d")) == [.discard("x")])
    }

    @Test("reports typing every few seconds while text is written, not while a message is edited")
    func typing() {
        var screen = timeline([entry(1, "Mine", from: ann)])
        #expect(screen.type("a").contains(.typing))
        #expect(!screen.type("b").contains(.typing))
        screen.typists = [bob]
        #expect(screen.lines()[20].contains("Bob is typing…"))
        var editing = timeline([entry(1, "Mine", from: ann)])
        _ = editing.press(.up)
        #expect(editing.type("x").isEmpty)
    }

    @Test("shows text of strangers harmlessly, wherever it is")
    func hostile() {
        let evil = "\u{1b}]0;x\u{7}\u{1b}[2J\u{202e}evil"
        var hostile = message(
            1, evil, attachments: [Attachment(id: "a", name: evil, contentType: "x", size: 1, hasThumbnail: false)])
        hostile.sender = Sender(id: bob, name: evil)
        hostile.reactions = [evil: Reaction(count: 1)]
        var screen = timeline([.message(hostile, delivery: nil)])
        screen.conversation = TerminalClientTests.conversation(title: evil)
        screen.typists = [bob]
        let shown = screen.shown()
        #expect(shown.lines.joined().contains("␛]0;x␇␛[2Jevil"))
        var writer = FrameWriter()
        let frame = writer.frame(shown.canvas)
        #expect(!frame.contains("\u{1b}]0") && !frame.contains("\u{7}") && !frame.contains("\u{202e}"))
        #expect(frame.components(separatedBy: "\u{1b}[2J").count == 2, "only the frame's own")
        var interface = Interface()
        interface.push(screen)
        #expect(!writer.frame(interface.draw().canvas).contains("\u{1b}]0"))
    }

    @Test("shows the beginning of a long message, and all of it after m")
    func longMessages() {
        let text = (1...230).map { "line \($0)." }.joined(separator: "\n")
        var screen = timeline([entry(1, "short"), entry(2, text)])
        let before = screen.lines()
        #expect(before.contains { $0.contains("line 200.") } && before.contains { $0.contains("m to show more") })
        #expect(!before.contains { $0.contains("line 201.") })
        // The selected message is shown from its top.
        _ = screen.press(.tab)
        #expect(screen.hints.first?.key == "m")
        let top = screen.lines()
        _ = screen.press(.character("m"))
        #expect(screen.lines() == top && top.contains { $0.contains("line 1.") } && screen.hints.first?.key == "r")
        _ = screen.press(.escape, .end)
        let end = screen.lines()
        #expect(end.contains { $0.contains("line 230.") } && !end.contains { $0.contains("m to show more") })
        // In one line there are no more characters than it has room for.
        #expect(MessageText.line(message(3, text)).count <= 500)
    }

    @Test("keeps its place for every size of the terminal", arguments: [(40, 10), (80, 24), (200, 60)])
    func sizes(columns: Int, rows: Int) {
        let long = String(repeating: "漢字 and words 👩‍👩‍👧 ", count: 30)
        var screen = timeline(
            (1...30).map { entry($0, $0 % 3 == 0 ? long : "message \($0)", from: $0 % 2 == 0 ? ann : bob) })
        for _ in 0..<60 {
            let lines = screen.lines(columns: columns, rows: rows)
            #expect(lines.allSatisfy { $0.displayWidth <= columns })
            _ = screen.press(.pageUp)
        }
        #expect(screen.lines(columns: columns, rows: rows)[0].contains("November"))
        for _ in 0..<60 { _ = screen.press(.pageDown) }
        #expect(screen.viewport.sticksToEnd)
    }
}
