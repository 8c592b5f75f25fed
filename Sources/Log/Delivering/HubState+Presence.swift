// Which users poll here, and the events that are delivered without being stored.
import Domain
import Store

/// The users who came to this node and who went since the last `takePresence`.
package struct PresenceChanges: Sendable {
    package var came: [UserID] = []
    /// The users who went, with the milliseconds since they were last seen.
    package var went: [(user: UserID, agoMs: Int64)] = []
    package var isEmpty: Bool { came.isEmpty && went.isEmpty }
}

/// An event that is not stored, and waits in a mailbox for the next poll.
struct HeldEvent {
    let body: JSONText
    let untilTick: Int
}

extension HubState {
    /// How many events are held for a mailbox's next poll.
    static let heldCountMax = 32
    /// For how long: 6 s, for which clients show typing. A polling device is seldom away for longer.
    static let heldTickCount = 6000 / HubLimits.tickMs

    /// Records that the mailbox's user polls here. This is on the path of every poll, and usually looks at one flag.
    mutating func markOnline(_ mailbox: Mailbox) {
        guard !mailbox.isOnline else { return }
        mailbox.isOnline = true
        presence.came.append(mailbox.user)
        setAlarm(mailbox)
    }

    mutating func markOffline(_ mailbox: Mailbox) {
        guard mailbox.isOnline else { return }
        mailbox.isOnline = false
        presence.went.append((mailbox.user, Int64(max(0, tick - mailbox.lastPolledTick) * HubLimits.tickMs)))
    }

    mutating func takePresence() -> PresenceChanges {
        defer { presence = PresenceChanges() }
        return presence
    }

    /// Delivers events to the waiting polls of the threads' members, except the users who caused them, or holds the
    /// events for their next poll. The log's position does not move. Polls that get the same events share one answer.
    mutating func pass(_ events: [PassingEvent]) -> [Wake] {
        var touched: Set<Mailbox> = []
        for event in events {
            var recipients: Set<Mailbox> = []
            for thread in event.threads {
                guard let feed = feeds[thread] else { continue }
                for mailbox in feed.mailboxes where mailbox.user != event.user && recipients.insert(mailbox).inserted {
                    if mailbox.held.count >= Self.heldCountMax { mailbox.held.removeFirst() }
                    mailbox.held.append(HeldEvent(body: event.body, untilTick: tick + Self.heldTickCount))
                }
            }
            touched.formUnion(recipients)
        }
        return wakeHeld(touched)
    }

    private mutating func wakeHeld(_ touched: Set<Mailbox>) -> [Wake] {
        var wakes: [Wake] = []
        /// Polls that get the same answer: those whose cursor is before the head, by the events that they get.
        var shared: [[JSONText]: [any Waiter]] = [:]
        for mailbox in touched where !mailbox.parked.isEmpty {
            let held = takeHeld(mailbox)
            for poll in mailbox.parked {
                recordEnd(poll)
                // The latest, if there are more than the poll asked for. The others are dropped: these events may be
                // lost.
                let bodies = Array(held.suffix(poll.limit))
                if max(poll.after, mailbox.openedAt) <= head {
                    shared[bodies, default: []].append(poll.waiter)
                } else {
                    wakes.append(Wake(waiters: [poll.waiter], answer: answer(bodies, mailbox, after: poll.after)))
                }
            }
            counters.parked -= mailbox.parked.count
            mailbox.parked.removeAll(keepingCapacity: true)
            mailbox.lastPolledTick = tick
        }
        for (held, waiters) in shared { wakes.append(Wake(waiters: waiters, answer: answer(held, upTo: head))) }
        return wakes
    }

    /// Returns the events held for the mailbox's next poll as its answer; nil for none.
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
