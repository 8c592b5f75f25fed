// What waits for one user's devices between their polls. Confined to the hub's lock.
import DequeModule
import Domain

/// A poll that waits.
struct ParkedPoll<Waiter: Sendable> {
    let id: UInt64
    let waiter: Waiter
    let session: SessionID
    let after: Position
    let limit: Int
}

/// The events of one user since a position, as a cache of the log: whatever doesn't fit is read from the database again.
/// Shared by the user's devices; each has its own cursor.
final class Mailbox<Waiter: Sendable> {
    let user: UserID
    /// Every event that concerns the user after this position, as far as the hub has come, is in `queue`.
    private(set) var since: Position
    /// The snapshot that `threads` was read from: events up to it must not be applied again.
    let openedAt: Position
    var threads: Set<ThreadID>
    private(set) var queue: Deque<Event> = []
    private var queueByteCount = 0
    var parked: [ParkedPoll<Waiter>] = []
    var lastPolledTick: Int

    init(user: UserID, at position: Position, threads: Set<ThreadID>, tick: Int) {
        self.user = user
        since = position
        openedAt = position
        self.threads = threads
        lastPolledTick = tick
    }

    /// Takes an event in; the oldest make room, and are then only in the database. Gives how many had to go.
    func append(_ event: Event, limits: HubLimits) -> Int {
        queue.append(event)
        queueByteCount += event.body.count
        var dropped = 0
        while queue.count > limits.mailboxEventCountMax
            || (queueByteCount > limits.mailboxByteCountMax && queue.count > 1)
        {
            drop()
            dropped += 1
        }
        return dropped
    }

    /// Forgets the events up to `position`; a poll from before it reads the database.
    func forget(upTo position: Position) {
        while let first = queue.first, first.position <= position { drop() }
        since = max(since, position)
    }

    /// Forgets a thread's events before `position`, where the user leaves it: of their withdrawal this mailbox would not
    /// hear any more.
    func forget(_ thread: ThreadID, before position: Position) {
        if let last = queue.last(where: { $0.thread == thread && $0.position < position }) {
            forget(upTo: last.position)
        }
    }

    private func drop() {
        let event = queue.removeFirst()
        queueByteCount -= event.body.count
        since = event.position
    }

    /// The events after `position`, within the answer's bounds, and whether there are more. At least one if there is any.
    func events(after position: Position, limit: Int, byteCountMax: Int) -> (events: [Event], more: Bool) {
        var taken: [Event] = []
        var byteCount = 0
        for event in queue[firstIndex(after: position)...] {
            if taken.count == limit || (byteCount + event.body.count > byteCountMax && !taken.isEmpty) {
                return (taken, true)
            }
            taken.append(event)
            byteCount += event.body.count
        }
        return (taken, false)
    }

    private func firstIndex(after position: Position) -> Int {
        var low = queue.startIndex
        var high = queue.endIndex
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
