// Who polls here, and the events that are handed to polls without being kept.
import Domain
import Store

/// Who has come to this node and who has gone since they were asked for last.
package struct PresenceChanges: Sendable {
    package var came: [UserID] = []
    /// With the milliseconds since they were last seen.
    package var went: [(user: UserID, agoMs: Int64)] = []
    package var isEmpty: Bool { came.isEmpty && went.isEmpty }
}

/// A passing event that waits in a mailbox for the next poll.
struct HeldEvent {
    let body: JSONText
    let untilTick: Int
}

extension HubState {
    /// Of those held for a mailbox's next poll.
    static let heldCountMax = 32
    /// For how long: 6 s, what typing is shown for. A device that polls is seldom away for longer than a moment.
    static let heldTickCount = 6000 / HubLimits.tickMs

    /// Notes that the mailbox's user polls here. On the path of every poll: a look at one flag.
    mutating func noteSeen(_ mailbox: Mailbox) {
        guard !mailbox.isOnline else { return }
        mailbox.isOnline = true
        presence.came.append(mailbox.user)
        setAlarm(mailbox)
    }

    mutating func noteGone(_ mailbox: Mailbox) {
        guard mailbox.isOnline else { return }
        mailbox.isOnline = false
        presence.went.append((mailbox.user, Int64(max(0, tick - mailbox.lastPolledTick) * HubLimits.tickMs)))
    }

    mutating func takePresence() -> PresenceChanges {
        defer { presence = PresenceChanges() }
        return presence
    }

    /// Hands events to the waiting polls of the members that poll here, or has them wait for their next, but for those who
    /// caused them. The log's position doesn't move; what polls get the same shares one answer.
    mutating func pass(_ events: [PassingEvent]) -> [Wake] {
        var touched: Set<Mailbox> = []
        for event in events {
            var told: Set<Mailbox> = []
            for thread in event.threads {
                guard let feed = feeds[thread] else { continue }
                for mailbox in feed.mailboxes where mailbox.user != event.user && told.insert(mailbox).inserted {
                    if mailbox.held.count >= Self.heldCountMax { mailbox.held.removeFirst() }
                    mailbox.held.append(HeldEvent(body: event.body, untilTick: tick + Self.heldTickCount))
                }
            }
            touched.formUnion(told)
        }
        return wakeHeld(touched)
    }

    private mutating func wakeHeld(_ touched: Set<Mailbox>) -> [Wake] {
        var wakes: [Wake] = []
        /// Of polls that learn the same: those whose cursor lies before the head, by what they are told.
        var shared: [[JSONText]: [any Waiter]] = [:]
        for mailbox in touched where !mailbox.parked.isEmpty {
            let held = takeHeld(mailbox)
            for poll in mailbox.parked {
                noteEnd(poll)
                // The latest where there are more than it asked for: such events may be lost.
                let told = Array(held.suffix(poll.limit))
                if max(poll.after, mailbox.openedAt) <= head {
                    shared[told, default: []].append(poll.waiter)
                } else {
                    wakes.append(Wake(waiters: [poll.waiter], answer: answer(told, mailbox, after: poll.after)))
                }
            }
            counters.parked -= mailbox.parked.count
            mailbox.parked.removeAll(keepingCapacity: true)
            mailbox.lastPolledTick = tick
        }
        for (held, waiters) in shared { wakes.append(Wake(waiters: waiters, answer: answer(held, upTo: head))) }
        return wakes
    }

    /// What is held for the mailbox's next poll, as its answer; nil for nothing.
    mutating func heldAnswer(_ mailbox: Mailbox, after position: Position, limit: Int) -> PollAnswer? {
        guard !mailbox.held.isEmpty else { return nil }
        let held = takeHeld(mailbox).suffix(limit)
        return held.isEmpty ? nil : answer(Array(held), mailbox, after: position)
    }

    private func takeHeld(_ mailbox: Mailbox) -> [JSONText] {
        defer { mailbox.held = [] }
        return mailbox.held.filter { $0.untilTick >= tick }.map(\.body)
    }

    private func answer(_ held: [JSONText], _ mailbox: Mailbox, after position: Position) -> PollAnswer {
        answer(held, upTo: max(head, mailbox.openedAt, position))
    }

    private func answer(_ held: [JSONText], upTo position: Position) -> PollAnswer {
        let events = held.map { Event(StoredEvent(position: position, type: "", body: $0)) }
        return .events(events, upTo: Cursor(epoch: epoch, position: position), more: false)
    }
}
