// People, messages and conversations for the tests of the screens.
import Foundation
import Parley

@testable import TerminalClient

let ann: UserID = "00000000-0000-4000-8000-00000000000a"
let bob: UserID = "00000000-0000-4000-8000-00000000000b"
let thread: ThreadID = "00000000-0000-4000-8000-000000000001"

/// 23 November 2026, 14:00 UTC.
let noon = Date(timeIntervalSince1970: 1_795_442_400)

var surroundings: Surroundings {
    var surroundings = Surroundings(now: noon.addingTimeInterval(600), me: ann, connection: .live)
    surroundings.calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    return surroundings
}

func message(
    _ seq: Int, _ text: String, from sender: UserID = bob, minute: Double = 0, attachments: [Attachment] = []
) -> Message {
    Message(
        id: MessageID("message-\(seq)"), threadID: thread, seq: Seq(seq),
        timestamp: noon.addingTimeInterval(minute * 60),
        sender: Sender(id: sender, name: sender == ann ? "Ann" : "Bob"),
        payload: .text(text.isEmpty ? nil : text, attachments: attachments))
}

func entry(_ seq: Int, _ text: String, from sender: UserID = bob, minute: Double = 0) -> TimelineEntry {
    let delivery = sender == ann ? Delivery(others: 1, delivered: 0, read: 0) : nil
    return .message(message(seq, text, from: sender, minute: minute), delivery: delivery)
}

func conversation(
    _ id: ThreadID = thread, title: String = "Bob", last: Message? = nil, unread: Int = 0, me: OwnMembership = .init()
) -> Conversation {
    let peer = User(id: bob, username: "bob", name: title)
    let summary = ThreadSummary(
        id: id, kind: .direct, title: title, memberCount: 2, createdAt: noon, peer: peer, lastMessage: last,
        unreadCount: unread, lastActivityAt: noon, head: last?.seq ?? 0, me: me)
    return Conversation(thread: summary)
}

extension Screen {
    /// Presses keys and returns what the screen asks for.
    mutating func press(_ keys: Key...) -> [Action] { keys.flatMap { handle($0, surroundings) } }

    mutating func type(_ text: String) -> [Action] { text.flatMap { handle(.character($0), surroundings) } }

    /// The rows as text.
    mutating func lines(columns: Int = 80, rows: Int = 22) -> [String] { shown(columns: columns, rows: rows).lines }

    mutating func shown(columns: Int = 80, rows: Int = 22) -> (lines: [String], wanted: [Action], canvas: Canvas) {
        var canvas = Canvas(Size(columns: columns, rows: rows))
        let wanted = draw(on: &canvas, rows: 0..<rows, surroundings)
        return (canvas.lines, wanted, canvas)
    }
}

/// A timeline with these entries, opened.
func timeline(_ entries: [TimelineEntry]) -> TimelineScreen {
    var screen = TimelineScreen(thread)
    screen.conversation = conversation()
    screen.atStart = true
    screen.entries = entries
    return screen
}
