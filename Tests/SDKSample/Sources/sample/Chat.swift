// A conversation in the terminal: prints what is said, sends what is typed.
import Foundation
import Parley

/// Prints the inbox, then opens the conversation with `peer` until the input ends.
func chat(_ parley: ParleyClient, with peer: String) async throws {
    for await case .snapshot(let rows) in parley.inbox() {
        print(rows.isEmpty ? "The inbox is empty." : "The inbox:")
        for row in rows { print("  \(row.thread.peer?.name ?? row.thread.title ?? "…") (\(row.thread.unreadCount))") }
        break
    }
    guard let user = try await parley.people(matching: peer).first(where: { $0.username == peer }) else {
        print("There is no user \(peer).")
        return
    }
    let thread = try await parley.openDirect(with: user.id)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await show(thread) }
        group.addTask { for await line in typedLines() { try await send(line, to: thread) } }
        // The first to end, or to fail, ends the other.
        try await group.next()
        group.cancelAll()
    }
}

/// Sends a line. `/file NAME TEXT` sends the text as a file.
private func send(_ line: String, to thread: ChatThread) async throws {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    if words.count == 3, words[0] == "/file" {
        let file = OutgoingFile.data(Data(words[2].utf8), name: words[1], contentType: "text/plain")
        try await thread.send(.text("Here is a file."), attachments: [file])
    } else {
        // This returns as soon as the message is in the outbox. It is sent when the server can be reached.
        try await thread.send(.text(line))
    }
}

/// Prints each message once, and each message of one's own also while it waits. What was shown counts as read.
private func show(_ thread: ChatThread) async throws {
    var rows: [TimelineRow] = []
    var printed: Set<String> = []
    var shown: Seq = 0
    for await change in thread.timeline(around: .newest) {
        change.apply(to: &rows)
        for row in rows {
            switch row {
            case .message(let message, _):
                if printed.insert("\(message.id)").inserted { print(text(of: message)) }
                shown = max(shown, message.seq)
            case .outgoing(let message):
                if printed.insert("… \(message.id)").inserted { print("… \(message.text ?? "")") }
            case .divider, .hole: break
            @unknown default: break
            }
        }
        try await thread.markRead(through: shown)
    }
}

/// `ann: Here is a file. [notes.txt, 18 bytes]`
private func text(of message: Message) -> String {
    let files = message.attachments.map { " [\($0.name), \($0.size) bytes]" }.joined()
    return "\(message.sender?.name ?? "Parley"): \(message.text ?? "")\(files)"
}
