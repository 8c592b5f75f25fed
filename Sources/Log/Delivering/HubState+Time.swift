// Time and endings: polls whose time is over, unused mailboxes, new epochs, and a node that stops.
import Domain

/// The polls that one tick ends without events. Nearly all get the same answer: nothing new up to the log's head.
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
    /// Advances by a tick: answers the polls whose time is over, and closes unused mailboxes. Other polls and mailboxes
    /// cost nothing.
    mutating func advance() -> [Wake] {
        tick += 1
        var ended = EndedWaits(head: Cursor(epoch: epoch, position: head))
        for mailbox in alarms.removeValue(forKey: tick) ?? [] where mailbox.alarmTick == tick {
            mailbox.alarmTick = nil
            endWaits(of: mailbox, &ended)
            if mailbox.parked.isEmpty, !keep(mailbox) { continue }
            setAlarm(mailbox)
        }
        expireDevices()
        return ended.wakes
    }

    /// Has the mailbox checked when a wait may end or the mailbox may close. Polls that are answered before leave the
    /// alarm as it is, because the next one is later. So one alarm for each mailbox is enough, however often it is
    /// polled.
    mutating func setAlarm(_ mailbox: Mailbox) {
        let quietTickCount = mailbox.isOnline ? limits.onlineTickCountMax : limits.mailboxIdleTickCountMax
        let next = mailbox.parked.lazy.map(\.deadlineTick).min() ?? mailbox.lastPolledTick + quietTickCount + 1
        guard next < mailbox.alarmTick ?? .max else { return }
        alarms[max(next, tick + 1), default: []].append(mailbox)
        mailbox.alarmTick = max(next, tick + 1)
    }

    /// Returns whether a mailbox without waiting polls stays.
    private mutating func keep(_ mailbox: Mailbox) -> Bool {
        let quietTickCount = tick - mailbox.lastPolledTick
        if quietTickCount > limits.onlineTickCountMax { markOffline(mailbox) }
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
            recordEnd(poll)
        }
        mailbox.parked.removeAll { $0.deadlineTick <= tick }
        counters.parked -= due.count
        mailbox.lastPolledTick = tick
    }

    private mutating func close(_ mailbox: Mailbox) {
        markOffline(mailbox)
        mailbox.alarmTick = nil
        mailboxes[mailbox.user] = nil
        for feed in mailbox.close() { dropUnused(feed) }
    }

    /// Moves to a new epoch, whose first position is `end` or later. Everything applied so far is part of it, so
    /// mailboxes and parked polls stay. The exceptions are ahead of this node, in a part that was lost: their polls are
    /// answered, and the client's next poll shows whether its cursor is still valid.
    mutating func adopt(_ next: Int32, after end: Position) -> [Wake] {
        let old = epoch
        ends[old] = end
        epoch = next
        var wakes: [Wake] = []
        for mailbox in mailboxes.values {
            let isLost = mailbox.openedAt >= end
            wakes += mailbox.parked.filter { isLost || $0.after >= end }.map { poll in
                recordEnd(poll)
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

    /// Drops everything and continues from `start`: the log has lost a part of what this node has read.
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

    /// From now on polls are answered at once; `drain` answers the waiting ones.
    mutating func beginClosing() { isClosing = true }

    /// Answers some of the waiting polls: the node is stopping.
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
            for poll in taken { recordEnd(poll) }
            mailbox.parked.removeFirst(taken.count)
            counters.parked -= taken.count
        }
        return wakes
    }
}

/// Counts since the hub started; `parked` is how many polls wait now.
package struct HubCounters: Sendable {
    package var parked = 0
    /// Events, each times the mailboxes that it concerns.
    package var delivered = 0
    /// Events that were dropped for lack of room.
    package var dropped = 0
    /// Polls whose client disconnected.
    package var abandoned = 0
    /// Polls that made room for a newer one of their session or account.
    package var displaced = 0
}
