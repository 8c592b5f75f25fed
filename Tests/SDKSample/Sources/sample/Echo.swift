// A bot. It needs no list of what it has answered: its read marks say so, on every device and after a restart.
import ParleyClient

/// Answers unread messages until the input ends.
func echo(_ parley: ParleyClient, as me: UserID) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var rows: [InboxRow] = []
            for await change in parley.inbox(.unread) {
                rows.apply(change)
                for row in rows { try await answer(row, in: parley.thread(row.id), as: me) }
            }
        }
        group.addTask { for await _ in typedLines() {} }
        // The first to end, or to fail, ends the other.
        try await group.next()
        group.cancelAll()
    }
}

private func answer(_ row: InboxRow, in thread: ChatThread, as me: UserID) async throws {
    guard let message = row.thread.lastMessage, message.sender?.id != me else { return }
    let files = message.attachments.map(\.name)
    let text = message.text ?? "nothing"
    print("\(message.sender?.name ?? "somebody") wrote: \(text) \(files.joined(separator: ", "))")
    try await thread.send(.text("You wrote: \(text)"), replyTo: message.id)
    try await thread.markRead(through: message.seq)
}
