// The passing of time, and endings: polls whose time is up, mailboxes that nobody asks for, a node that goes.
import Domain

/// The polls that one tick ends without events: nearly all learn the same, that they have seen all up to the log's head.
private struct EndedWaits {
    let head: Cursor
    private var atHead: [any Waiter] = []
    private var others: [Wake] = []

    init(head: Cursor) { self.head = head }

    mutating func add(_ waiter: any Waiter, _ answer: PollAnswer) {
        if case .events(_, upTo: head, _) = answer {
            atHead.append(waiter)
        } else {
            others.append(Wake(waiters: [waiter], answer: answer))
        }
    }

    var wakes: [Wake] {
        atHead.isEmpty ? others : others + [Wake(waiters: atHead, answer: .events([], upTo: head, more: false))]
    }
}

extension HubState {
    /// A tick has passed: the polls whose time is up are answered, mailboxes that nobody asked for go.
    /// Costs nothing for polls that wait on, nor for mailboxes that stay.
    mutating func advance() -> [Wake] {
        tick += 1
        var ended = EndedWaits(head: Cursor(epoch: epoch, position: head))
        for mailbox in alarms.removeValue(forKey: tick) ?? [] where mailbox.alarmTick == tick {
            mailbox.alarmTick = nil
            endWaits(of: mailbox, &ended)
            if mailbox.parked.isEmpty, !keep(mailbox) { continue }
            setAlarm(mailbox)
        }
        noteGoneDevices()
        return ended.wakes
    }

    /// Looks at the mailbox again once it may have something to do: end a wait, or go. Polls that are answered before leave
    /// the alarm as it is: what is next comes after it, so one alarm a mailbox is enough however often it is polled.
    mutating func setAlarm(_ mailbox: Mailbox) {
        let quietTickCount = mailbox.isOnline ? limits.onlineTickCountMax : limits.mailboxIdleTickCountMax
        let next = mailbox.parked.lazy.map(\.deadlineTick).min() ?? mailbox.lastPolledTick + quietTickCount + 1
        guard next < mailbox.alarmTick ?? .max else { return }
        alarms[max(next, tick + 1), default: []].append(mailbox)
        mailbox.alarmTick = max(next, tick + 1)
    }

    /// Whether a mailbox stays at which nobody waits.
    private mutating func keep(_ mailbox: Mailbox) -> Bool {
        let quietTickCount = tick - mailbox.lastPolledTick
        if quietTickCount > limits.onlineTickCountMax { noteGone(mailbox) }
        guard quietTickCount > limits.mailboxIdleTickCountMax else { return true }
        deliveries.leave(mailbox)
        close(mailbox)
        return false
    }

    private mutating func endWaits(of mailbox: Mailbox, _ ended: inout EndedWaits) {
        let due = mailbox.parked.filter { $0.deadlineTick <= tick }
        guard !due.isEmpty else { return }
        for poll in due {
            ended.add(poll.waiter, answer(([], false), mailbox: mailbox, after: poll.after))
            noteEnd(poll)
        }
        mailbox.parked.removeAll { $0.deadlineTick <= tick }
        counters.parked -= due.count
        mailbox.lastPolledTick = tick
    }

    private mutating func close(_ mailbox: Mailbox) {
        noteGone(mailbox)
        mailbox.alarmTick = nil
        mailboxes[mailbox.user] = nil
        for feed in mailbox.close() { dropUnused(feed) }
    }

    /// The log goes on in a new epoch, whose first position is `end` or later. Everything applied so far is part of it, so
    /// mailboxes and parked polls stay; but for those that have come ahead of this node, into a part that was lost. Their
    /// polls are answered, and learn at the next what became of their cursor.
    mutating func adopt(_ next: Int32, after end: Position) -> [Wake] {
        let old = epoch
        ends[old] = end
        epoch = next
        var wakes: [Wake] = []
        for mailbox in mailboxes.values {
            let isLost = mailbox.openedAt >= end
            wakes += mailbox.parked.filter { isLost || $0.after >= end }.map { poll in
                noteEnd(poll)
                let same = Cursor(epoch: old, position: poll.after)
                return Wake(waiters: [poll.waiter], answer: .events([], upTo: same, more: true))
            }
            mailbox.parked.removeAll { isLost || $0.after >= end }
            mailbox.forget(from: end)
            if isLost { close(mailbox) }
        }
        for poller in pollers.here.values { poller.forget(from: end) }
        counters.parked -= wakes.count
        return wakes
    }

    /// The log isn't what this node has read: everything kept is dropped, and all go on from `position`.
    mutating func restart(at start: Cursor) -> [Wake] {
        let old = epoch
        let wakes = takeParked(atMost: .max) { .events([], upTo: Cursor(epoch: old, position: $0.after), more: false) }
        for mailbox in mailboxes.values { close(mailbox) }
        alarms = [:]
        deliveries = HubDeliveries()
        for poller in pollers.here.values { poller.forget(from: Position(start.position.value + 1)) }
        recent = EventQueue(since: start.position)
        head = start.position
        epoch = start.epoch
        ends = [:]
        return wakes
    }

    /// From now on polls are answered at once; call `drain` for those that wait.
    mutating func beginClosing() { isClosing = true }

    /// Some of the polls that still wait, told that the node is going away.
    mutating func drain(atMost count: Int) -> [Wake] {
        let epoch = epoch
        return takeParked(atMost: count) { .closing(upTo: Cursor(epoch: epoch, position: $0.after)) }
    }

    private mutating func takeParked(atMost count: Int, _ answer: (ParkedPoll) -> PollAnswer) -> [Wake] {
        var wakes: [Wake] = []
        for mailbox in mailboxes.values where !mailbox.parked.isEmpty {
            guard wakes.count < count else { break }
            let taken = mailbox.parked.prefix(count - wakes.count)
            wakes += taken.map { Wake(waiters: [$0.waiter], answer: answer($0)) }
            for poll in taken { noteEnd(poll) }
            mailbox.parked.removeFirst(taken.count)
            counters.parked -= taken.count
        }
        return wakes
    }
}

/// What the hub has done since it started; `parked` is how many polls wait now.
package struct HubCounters: Sendable {
    package var parked = 0
    /// Events times the mailboxes that they concern.
    package var delivered = 0
    /// Events that there was no room for.
    package var dropped = 0
    /// Polls whose client went away.
    package var abandoned = 0
    /// Polls that made room for a newer one of their session or account.
    package var displaced = 0
}
