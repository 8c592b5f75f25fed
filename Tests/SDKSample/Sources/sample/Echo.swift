// A bot. It needs no list of what it has answered: its read marks say so, on every device and after a restart.
import Parley

/// Answers unread messages until the input ends.
func echo(_ parley: ParleyClient, as me: UserID) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var rows: [InboxRow] = []
            for await change in parley.inbox(.unread) {
                change.apply(to: &rows)
                for row in rows { try await answer(in: parley.thread(row.id), as: me) }
            }
        }
        group.addTask { for await _ in typedLines() {} }
        // The first to end, or to fail, ends the other.
        try await group.next()
        group.cancelAll()
    }
}

/// Answers what is unread in a thread: the messages after the divider.
private func answer(in thread: ChatThread, as me: UserID) async throws {
    var rows: [TimelineRow] = []
    for await change in thread.timeline(around: .firstUnread) {
        change.apply(to: &rows)
        let unread = rows.drop { $0.id != .divider }
        // What the device lacks is being fetched.
        if unread.contains(where: { if case .hole = $0 { true } else { false } }) { continue }
        for case .message(let message, _) in unread {
            if message.sender?.id != me { try await answer(message, in: thread) }
            try await thread.markRead(through: message.seq)
        }
        return
    }
}

private func answer(_ message: Message, in thread: ChatThread) async throws {
    let files = message.attachments.map(\.name)
    let text = message.text ?? "nothing"
    print("\(message.sender?.name ?? "somebody") wrote: \(text) \(files.joined(separator: ", "))")
    try await thread.send(.text("You wrote: \(text)"), replyTo: message.id)
}
