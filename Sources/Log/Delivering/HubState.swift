// What the hub decides: who gets which event, which poll waits, when a mailbox goes. No lock, no clock, no I/O.
// Applying events is in HubState+Events.swift, the passing of time and endings in HubState+Time.swift.
import Domain

package struct HubLimits: Sendable {
    /// Of a thread's events, and of those that concern one user alone.
    package var mailboxEventCountMax = 512
    package var mailboxByteCountMax = 1 << 20
    /// Recent events kept for the seam between a read of the database and the tail.
    package var recentEventCountMax = 8192
    package var recentByteCountMax = 32 << 20
    package var answerByteCountMax = 256 << 10
    /// Polls that may wait, streams among them: of one session, and of all sessions of an account.
    package var sessionPollCountMax = 8
    package var accountPollCountMax = 64
    /// Ticks after its last poll that a mailbox is kept: 90 s.
    package var mailboxIdleTickCountMax = 90_000 / HubLimits.tickMs
    /// Ticks after the last poll that its user counts as online: 60 s.
    package var onlineTickCountMax = 60_000 / HubLimits.tickMs
    /// Ticks after the end of its last poll that a device counts as gone: 2 s.
    package var deviceWaitTickCount = 2000 / HubLimits.tickMs
    package init() {}

    /// The clock of the polls, in milliseconds.
    package static let tickMs = 250
    static let secondTickCount = 1000 / tickMs
    /// Twenty seconds.
    static let longWaitTickCount = 20 * secondTickCount
    /// 45 s: more than the 40 after which the kernel cuts a stream that acknowledges nothing.
    static let streamLagTickCount = 45 * secondTickCount
}

/// An answer to polls that waited, to be sent once the hub's lock is let go.
package struct Wake: Sendable {
    package var waiters: [any Waiter]
    package var answer: PollAnswer
}

/// The mailboxes of a node and the polls parked at them. Events are applied in the order of the log; all that a mailbox
/// knows of its user's memberships was read at one position and is changed by the events after it.
struct HubState {
    enum PollDecision {
        case answer(PollAnswer)
        /// The poll waits under this number. The oldest one may have had to make room, and is to be answered.
        case parked(UInt64, displaced: Wake?)
        /// No mailbox reaches back to the cursor: read the database, then `open`.
        case cold
    }

    let limits: HubLimits
    /// Everything up to here has been applied.
    var head: Position
    /// Of the log that is being read; positions of another are not comparable with these.
    var epoch: Int32
    /// The epochs that this node has seen end, and the first position after each: before it, a cursor is good here.
    var ends: [Int32: Position] = [:]
    var tick = 0
    var counters = HubCounters()
    var isClosing = false
    var mailboxes: [UserID: Mailbox] = [:]
    /// Of the threads that have mailboxes.
    var feeds: [ThreadID: Feed] = [:]
    /// The latest events of all.
    var recent: EventQueue
    /// The mailboxes to be looked at, by tick. One whose `alarmTick` is another by then is passed over.
    var alarms: [Int: [Mailbox]] = [:]
    /// What devices have got and nobody has written down yet.
    var deliveries = HubDeliveries()
    /// Who has come and gone, as far as nobody has asked for it.
    var presence = PresenceChanges()
    var pollers = Pollers()
    private var lastPoll: UInt64 = 0

    init(start: Cursor, limits: HubLimits = HubLimits()) {
        head = start.position
        epoch = start.epoch
        self.limits = limits
        recent = EventQueue(since: start.position)
    }

    var mailboxCount: Int { mailboxes.count }

    // MARK: Polls

    /// Long waits end with the whole seconds, up to three quarters of one early: what wakes for many at once costs less
    /// for each.
    private func deadlineTick(after waitTickCount: Int) -> Int {
        let exact = tick + waitTickCount + 1
        return waitTickCount < HubLimits.longWaitTickCount ? exact : exact - exact % HubLimits.secondTickCount
    }

    /// Answers from the mailbox, or parks the poll for `waitTickCount`.
    /// - Parameter isGiven: the cursor is known to lie within the log, though this node may not have come as far yet. A
    ///   client's own is not known to.
    mutating func poll(
        _ identity: Identity, from cursor: Cursor, limit: Int, waitTickCount: Int, waiter: any Waiter,
        acks: Bool = true, isGiven: Bool = true
    ) -> PollDecision {
        guard !isClosing else { return .answer(.closing(upTo: cursor)) }
        let position = cursor.position
        guard isKept(cursor), let mailbox = mailboxes[identity.user],
            // Beyond what this node has seen only the database can tell whether there is such a position.
            isGiven || position <= max(head, mailbox.openedAt),
            let found = mailbox.events(after: position, limit: limit, byteCountMax: limits.answerByteCountMax)
        else { return .cold }
        mailbox.lastPolledTick = tick
        if acks { note(mailbox, identity.session, has: position) }
        noteSeen(mailbox)
        let poller = noteDevice(identity, in: mailbox, at: position, acks: acks)
        if found.events.isEmpty, let held = heldAnswer(mailbox, after: position, limit: limit) {
            noteEnd(poller)
            return .answer(held)
        }
        if !found.events.isEmpty || waitTickCount == 0 {
            noteEnd(poller)
            return .answer(answer(found, mailbox: mailbox, after: position))
        }
        let displaced = makeRoom(for: identity.session, in: mailbox)
        lastPoll += 1
        // The tick that is passing isn't whole any more.
        let deadlineTick = deadlineTick(after: waitTickCount)
        mailbox.parked.append(
            ParkedPoll(
                id: lastPoll, waiter: waiter, poller: poller, after: position, limit: limit, deadlineTick: deadlineTick)
        )
        poller.openCount += 1
        setAlarm(mailbox)
        counters.parked += 1
        return .parked(lastPoll, displaced: displaced)
    }

    private func isKept(_ cursor: Cursor) -> Bool {
        cursor.epoch == epoch || ends[cursor.epoch].map { cursor.position < $0 } ?? false
    }

    func answer(_ found: (events: [Event], more: Bool), mailbox: Mailbox, after position: Position) -> PollAnswer {
        let upTo = found.more ? found.events[found.events.count - 1].position : max(head, mailbox.openedAt, position)
        return .events(found.events, upTo: Cursor(epoch: epoch, position: upTo), more: found.more)
    }

    /// Makes room for one more poll of the session: when the session or its account has as many as may wait, its oldest
    /// poll is taken away. Costs a comparison, unless the account has enough polls for one session to have too many.
    private mutating func makeRoom(for session: SessionID, in mailbox: Mailbox) -> Wake? {
        let count = mailbox.parked.count
        guard count >= min(limits.sessionPollCountMax, limits.accountPollCountMax) else { return nil }
        // They stand in the order in which they came.
        let oldest: Int?
        if mailbox.parked.count(where: { $0.session == session }) >= limits.sessionPollCountMax {
            oldest = mailbox.parked.firstIndex { $0.session == session }
        } else {
            oldest = count >= limits.accountPollCountMax ? 0 : nil
        }
        guard let oldest else { return nil }
        let poll = mailbox.parked.remove(at: oldest)
        noteEnd(poll)
        counters.parked -= 1
        counters.displaced += 1
        let upTo = max(head, mailbox.openedAt, poll.after)
        return Wake(waiters: [poll.waiter], answer: .displaced(upTo: Cursor(epoch: epoch, position: upTo)))
    }

    /// Takes a poll away that is not to be answered from here any more; false if it has been answered.
    mutating func cancel(_ user: UserID, poll: UInt64) -> Bool {
        guard let mailbox = mailboxes[user], let index = mailbox.parked.firstIndex(where: { $0.id == poll }) else {
            return false
        }
        noteEnd(mailbox.parked.remove(at: index))
        mailbox.lastPolledTick = tick
        counters.parked -= 1
        counters.abandoned += 1
        return true
    }

    // MARK: Mailboxes

    /// Makes a mailbox from what was read of the database at `position`, unless there is one that reaches back as far.
    /// False when the events since then aren't at hand any more: read again.
    /// - Parameter acked: the device that polled, and with which cursor; nil if that wasn't its own.
    mutating func open(
        _ user: UserID, threads: [ThreadID], at snapshot: Cursor, acked: (session: SessionID, position: Position)? = nil
    ) -> Bool {
        let position = snapshot.position
        guard snapshot.epoch == epoch else { return false }
        // What a standing one lacks was dropped; its parked polls stay, for they wait for what comes after.
        if let mailbox = mailboxes[user] {
            if let acked { note(mailbox, acked.session, has: acked.position) }
            noteSeen(mailbox)
            return mailbox.since <= position
        }
        guard position >= recent.since else { return false }
        let mailbox = Mailbox(user: user, at: position, head: head, tick: tick)
        mailboxes[user] = mailbox
        if let acked { note(mailbox, acked.session, has: acked.position) }
        noteSeen(mailbox)
        for thread in threads { mailbox.join(feed(thread, since: position), since: position) }
        for event in recent.after(position) {
            if event.begins.contains(user) { begin(mailbox, with: event) }
            if event.ends.contains(user) { end(mailbox, with: event) }
            if event.user == user { addOwn(event, to: mailbox) }
        }
        return true
    }

    /// The thread's feed, made if there is none, with all that came after `position`, which must be in `recent`.
    private mutating func feed(_ thread: ThreadID, since position: Position) -> Feed {
        let feed = feeds[thread] ?? Feed(thread, since: head)
        feeds[thread] = feed
        if feed.events.since > position {
            let end = feed.events.since
            let earlier = recent.after(position).prefix { $0.position <= end }
            feed.events.prepend(earlier.filter { $0.thread == thread && $0.user == nil }, since: position)
        }
        return feed
    }

    /// The user becomes a member of the event's thread.
    mutating func begin(_ mailbox: Mailbox, with event: Event) {
        guard let thread = event.thread, event.position > mailbox.openedAt else { return }
        let before = Position(event.position.value - 1)
        mailbox.join(feed(thread, since: before), since: before)
    }

    /// The user is a member of the event's thread no more; the event itself is the last that they see of it.
    mutating func end(_ mailbox: Mailbox, with event: Event) {
        guard let thread = event.thread, let feed = feeds[thread], event.position > mailbox.openedAt else { return }
        mailbox.leave(feed, before: event.position)
        if event.user == nil { addOwn(event, to: mailbox) }
        dropUnused(feed)
    }

    mutating func addOwn(_ event: Event, to mailbox: Mailbox) {
        guard event.position > mailbox.openedAt else { return }
        counters.dropped += mailbox.own.append(
            event, countMax: limits.mailboxEventCountMax, byteCountMax: limits.mailboxByteCountMax)
        counters.delivered += 1
    }

    mutating func dropUnused(_ feed: Feed) {
        if feed.mailboxes.isEmpty { feeds[feed.thread] = nil }
    }
}
