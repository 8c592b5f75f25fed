// What the hub decides: who gets which event, which poll waits, when a mailbox goes. No lock, no clock, no I/O.
import DequeModule
import Domain

package struct HubLimits: Sendable {
    package var mailboxEventCountMax = 512
    package var mailboxByteCountMax = 1 << 20
    /// Recent events kept for the seam between a read of the database and the tail.
    package var recentEventCountMax = 8192
    package var recentByteCountMax = 32 << 20
    package var answerByteCountMax = 256 << 10
    /// Ticks (100 ms) after its last poll that a mailbox is kept: 90 s.
    package var mailboxIdleTickCountMax = 900
    package init() {}
}

/// Something to be sent once the hub's lock is let go.
package struct Wake<Waiter: Sendable>: Sendable {
    package var waiter: Waiter
    package var answer: PollAnswer
}

/// The mailboxes of a node and the polls parked at them. Events are applied in the order of the log; all that a mailbox
/// knows of its user's memberships was read at one position and is changed by the events after it.
struct HubState<Waiter: Sendable> {
    enum PollDecision {
        case answer(PollAnswer)
        case parked(UInt64)
        /// No mailbox reaches back to the cursor: read the database, then `open`.
        case cold
    }

    let limits: HubLimits
    /// Everything up to here has been applied.
    private(set) var head: Position
    /// Of the log that is being read; positions of another are not comparable with these.
    private(set) var epoch: Int32
    /// The epochs that this node has seen end, and the first position after each: before it, a cursor is good here.
    private var ends: [Int32: Position] = [:]
    private(set) var tick = 0
    private(set) var counters = HubCounters()
    private var isClosing = false
    private var mailboxes: [UserID: Mailbox<Waiter>] = [:]
    private var subscribers: [ThreadID: [UserID: Mailbox<Waiter>]] = [:]
    private var recent: Deque<Event> = []
    private var recentByteCount = 0
    /// Events after this are all in `recent`.
    private var recentSince: Position
    private var deadlines: [Int: [(user: UserID, poll: UInt64)]] = [:]
    private var lastPoll: UInt64 = 0

    init(start: Cursor, limits: HubLimits = HubLimits()) {
        head = start.position
        epoch = start.epoch
        self.limits = limits
        recentSince = head
    }

    var mailboxCount: Int { mailboxes.count }

    // MARK: Polls

    /// Answers from the mailbox, or parks the poll for `waitTickCount`.
    mutating func poll(
        _ identity: Identity, from cursor: Cursor, limit: Int, waitTickCount: Int, waiter: Waiter
    ) -> PollDecision {
        guard !isClosing else { return .answer(.closing(upTo: cursor)) }
        let position = cursor.position
        guard isKept(cursor), let mailbox = mailboxes[identity.user], position >= mailbox.since else { return .cold }
        mailbox.lastPolledTick = tick
        let found = mailbox.events(after: position, limit: limit, byteCountMax: limits.answerByteCountMax)
        if !found.events.isEmpty || waitTickCount == 0 {
            return .answer(answer(found, mailbox: mailbox, after: position))
        }
        lastPoll += 1
        mailbox.parked.append(
            ParkedPoll(id: lastPoll, waiter: waiter, session: identity.session, after: position, limit: limit))
        deadlines[tick + waitTickCount, default: []].append((identity.user, lastPoll))
        counters.parked += 1
        return .parked(lastPoll)
    }

    private func isKept(_ cursor: Cursor) -> Bool {
        cursor.epoch == epoch || ends[cursor.epoch].map { cursor.position < $0 } ?? false
    }

    private func answer(
        _ found: (events: [Event], more: Bool), mailbox: Mailbox<Waiter>, after position: Position
    ) -> PollAnswer {
        let upTo = found.more ? found.events[found.events.count - 1].position : max(head, mailbox.openedAt, position)
        return .events(found.events, upTo: Cursor(epoch: epoch, position: upTo), more: found.more)
    }

    /// Makes a mailbox from what was read of the database at `position`, unless there is one that reaches back as far.
    /// False when the events since then aren't at hand any more: read again.
    mutating func open(_ user: UserID, threads: [ThreadID], at snapshot: Cursor) -> Bool {
        let position = snapshot.position
        guard snapshot.epoch == epoch else { return false }
        if let mailbox = mailboxes[user] {
            if mailbox.since <= position { return true }
            // What it lacks was dropped; its parked polls stay, for they wait for what comes after.
            return false
        }
        guard position >= recentSince else { return false }
        let mailbox = Mailbox<Waiter>(user: user, at: position, threads: Set(threads), tick: tick)
        mailboxes[user] = mailbox
        for thread in threads { subscribers[thread, default: [:]][user] = mailbox }
        for event in recent where event.position > position && event.position <= head {
            if event.begins.contains(user) { subscribe(mailbox, to: event) }
            if concerns(event, mailbox) { counters.dropped += mailbox.append(event, limits: limits) }
            if event.ends.contains(user) { unsubscribe(mailbox, from: event) }
        }
        return true
    }

    /// Takes a poll away that is not to be answered from here any more; false if it has been answered.
    mutating func cancel(_ user: UserID, poll: UInt64) -> Bool {
        guard take(poll, of: user) != nil else { return false }
        counters.abandoned += 1
        return true
    }

    private mutating func take(_ poll: UInt64, of user: UserID) -> (ParkedPoll<Waiter>, Mailbox<Waiter>)? {
        guard let mailbox = mailboxes[user], let index = mailbox.parked.firstIndex(where: { $0.id == poll }) else {
            return nil
        }
        counters.parked -= 1
        return (mailbox.parked.remove(at: index), mailbox)
    }

    // MARK: Events

    /// Applies the next events of the log and gives what is to be sent. An event at or below `head` is ignored.
    mutating func apply(_ events: [Event]) -> [Wake<Waiter>] {
        var touched: [UserID: Mailbox<Waiter>] = [:]
        var wakes: [Wake<Waiter>] = []
        for event in events where event.position > head {
            head = event.position
            remember(event)
            for user in event.begins {
                if let mailbox = mailboxes[user], event.position > mailbox.openedAt { subscribe(mailbox, to: event) }
            }
            if let user = event.user {
                if let mailbox = mailboxes[user] { deliver(event, to: mailbox, &touched) }
            } else if let thread = event.thread, let all = subscribers[thread] {
                for mailbox in all.values { deliver(event, to: mailbox, &touched) }
            }
            for user in event.ends {
                if let mailbox = mailboxes[user], event.position > mailbox.openedAt {
                    unsubscribe(mailbox, from: event)
                }
            }
            if let withdrawn = event.withdraws { forget(upTo: withdrawn, thread: event.thread) }
            if let session = event.session, let user = event.user { wakes += end(session, of: user) }
        }
        for mailbox in touched.values where !mailbox.parked.isEmpty {
            var waiting: [ParkedPoll<Waiter>] = []
            for poll in mailbox.parked {
                guard poll.after >= mailbox.since else {
                    // One read brought more than the mailbox keeps, or a message with its withdrawal: what is missing
                    // is only in the database. The client asks again at once, and is served from there.
                    let same = Cursor(epoch: epoch, position: poll.after)
                    wakes.append(Wake(waiter: poll.waiter, answer: .events([], upTo: same, more: true)))
                    continue
                }
                let found = mailbox.events(
                    after: poll.after, limit: poll.limit, byteCountMax: limits.answerByteCountMax)
                if found.events.isEmpty {
                    // Its cursor is from a node whose tail is ahead of this one's.
                    waiting.append(poll)
                } else {
                    wakes.append(Wake(waiter: poll.waiter, answer: answer(found, mailbox: mailbox, after: poll.after)))
                }
            }
            counters.parked -= mailbox.parked.count - waiting.count
            mailbox.parked = waiting
            mailbox.lastPolledTick = tick
        }
        return wakes
    }

    private func concerns(_ event: Event, _ mailbox: Mailbox<Waiter>) -> Bool {
        if let user = event.user { return user == mailbox.user }
        return event.thread.map(mailbox.threads.contains) ?? false
    }

    private mutating func deliver(
        _ event: Event, to mailbox: Mailbox<Waiter>, _ touched: inout [UserID: Mailbox<Waiter>]
    ) {
        // A mailbox may have been read at a snapshot ahead of this node's tail.
        guard event.position > mailbox.openedAt else { return }
        counters.dropped += mailbox.append(event, limits: limits)
        counters.delivered += 1
        touched[mailbox.user] = mailbox
    }

    private mutating func subscribe(_ mailbox: Mailbox<Waiter>, to event: Event) {
        guard let thread = event.thread else { return }
        mailbox.threads.insert(thread)
        subscribers[thread, default: [:]][mailbox.user] = mailbox
    }

    private mutating func unsubscribe(_ mailbox: Mailbox<Waiter>, from event: Event) {
        guard let thread = event.thread else { return }
        mailbox.threads.remove(thread)
        mailbox.forget(thread, before: event.position)
        leave(thread, mailbox.user)
    }

    private mutating func leave(_ thread: ThreadID, _ user: UserID) {
        subscribers[thread]?[user] = nil
        if subscribers[thread]?.isEmpty == true { subscribers[thread] = nil }
    }

    private mutating func remember(_ event: Event) {
        recent.append(event)
        recentByteCount += event.body.count
        while recent.count > limits.recentEventCountMax || recentByteCount > limits.recentByteCountMax {
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        let event = recent.removeFirst()
        recentByteCount -= event.body.count
        recentSince = event.position
    }

    /// Content that was withdrawn leaves the node's memory: from here on it is read as the database has it now.
    private mutating func forget(upTo position: Position, thread: ThreadID?) {
        while let first = recent.first, first.position <= position { forgetOldest() }
        recentSince = max(recentSince, position)
        guard let thread, let all = subscribers[thread] else { return }
        for mailbox in all.values { mailbox.forget(upTo: position) }
    }

    private mutating func end(_ session: SessionID, of user: UserID) -> [Wake<Waiter>] {
        guard let mailbox = mailboxes[user] else { return [] }
        let ended = mailbox.parked.filter { $0.session == session }
        mailbox.parked.removeAll { $0.session == session }
        counters.parked -= ended.count
        return ended.map { Wake(waiter: $0.waiter, answer: .revoked) }
    }

    // MARK: Time

    /// A tick of 100 ms has passed: the polls whose time is up are answered, mailboxes that nobody asked for go.
    mutating func advance() -> [Wake<Waiter>] {
        tick += 1
        var wakes: [Wake<Waiter>] = []
        for due in deadlines.removeValue(forKey: tick) ?? [] {
            guard let (poll, mailbox) = take(due.poll, of: due.user) else { continue }
            mailbox.lastPolledTick = tick
            wakes.append(Wake(waiter: poll.waiter, answer: answer(([], false), mailbox: mailbox, after: poll.after)))
        }
        if tick.isMultiple(of: 50) {
            for mailbox in mailboxes.values
            where mailbox.parked.isEmpty && tick - mailbox.lastPolledTick > limits.mailboxIdleTickCountMax {
                close(mailbox)
            }
        }
        return wakes
    }

    private mutating func close(_ mailbox: Mailbox<Waiter>) {
        mailboxes[mailbox.user] = nil
        for thread in mailbox.threads { leave(thread, mailbox.user) }
    }

    /// The log goes on in a new epoch, whose first position is `end` or later. Everything applied so far is part of it, so
    /// mailboxes and parked polls stay; but for those that have come ahead of this node, into a part that was lost. Their
    /// polls are answered, and learn at the next what became of their cursor.
    mutating func adopt(_ next: Int32, after end: Position) -> [Wake<Waiter>] {
        let old = epoch
        ends[old] = end
        epoch = next
        var wakes: [Wake<Waiter>] = []
        for mailbox in mailboxes.values {
            let isLost = mailbox.openedAt >= end
            let lost = mailbox.parked.filter { isLost || $0.after >= end }
            wakes += lost.map {
                Wake(
                    waiter: $0.waiter,
                    answer: .events([], upTo: Cursor(epoch: old, position: $0.after), more: true))
            }
            mailbox.parked.removeAll { isLost || $0.after >= end }
            if isLost { close(mailbox) }
        }
        counters.parked -= wakes.count
        return wakes
    }

    /// The log isn't what this node has read: everything kept is dropped, and all go on from `position`.
    mutating func restart(at start: Cursor) -> [Wake<Waiter>] {
        let old = epoch
        let wakes = takeParked(atMost: .max) { .events([], upTo: Cursor(epoch: old, position: $0.after), more: false) }
        mailboxes = [:]
        subscribers = [:]
        deadlines = [:]
        recent = []
        recentByteCount = 0
        recentSince = start.position
        head = start.position
        epoch = start.epoch
        ends = [:]
        return wakes
    }

    /// From now on polls are answered at once; call `drain` for those that wait.
    mutating func beginClosing() { isClosing = true }

    /// Some of the polls that still wait, told that the node is going away.
    mutating func drain(atMost count: Int) -> [Wake<Waiter>] {
        let epoch = epoch
        return takeParked(atMost: count) { .closing(upTo: Cursor(epoch: epoch, position: $0.after)) }
    }

    private mutating func takeParked(
        atMost count: Int, _ answer: (ParkedPoll<Waiter>) -> PollAnswer
    ) -> [Wake<Waiter>] {
        var wakes: [Wake<Waiter>] = []
        for mailbox in mailboxes.values where !mailbox.parked.isEmpty {
            guard wakes.count < count else { break }
            let taken = mailbox.parked.prefix(count - wakes.count)
            wakes += taken.map { Wake(waiter: $0.waiter, answer: answer($0)) }
            mailbox.parked.removeFirst(taken.count)
            counters.parked -= taken.count
        }
        return wakes
    }
}

/// What the hub has done since it started; `parked` is how many polls wait now.
package struct HubCounters: Sendable {
    package var parked = 0
    package var delivered = 0
    /// Events that a mailbox had no room for.
    package var dropped = 0
    /// Polls whose client went away.
    package var abandoned = 0
}
