// The code of the article "Timelines".
import Parley

private func rows(_ thread: ChatThread) async {
    // snippet
    let timeline = thread.timeline(around: .firstUnread)
    var rows: [TimelineRow] = []
    for await change in timeline {
        change.apply(to: &rows)
        for row in rows {
            switch row {
            case .message(let message, _): print(message.sender?.name ?? "", message.text ?? "")
            case .outgoing(let message): print("…", message.text ?? "")
            case .divider: print("--- new ---")
            case .hole: print("(loading)")
            @unknown default: break
            }
        }
    }
    // end
}

private func pages(_ timeline: Timeline, found message: Message) async throws {
    // snippet
    if !timeline.isAtStart { try await timeline.loadEarlier(50) }
    if !timeline.isAtEnd { try await timeline.loadLater(50) }
    try await timeline.jump(to: .message(message.id))
    // end
}

private func change(_ thread: ChatThread, _ message: Message) async throws {
    // snippet
    try await thread.markRead(through: message.seq)
    try await thread.react("👍", to: message.id)
    try await thread.edit(message.id, text: "Hello, Ben!")
    try await thread.delete(message.id, for: .everyone)
    // end
}

private func live(_ thread: ChatThread) async {
    // snippet
    for await people in thread.typing {
        print("\(people.count) people are typing")
    }
    // end
}
