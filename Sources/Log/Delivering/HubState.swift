// The hub's decisions: who gets which event, which poll waits, when a mailbox is closed. No lock, no clock, no I/O.
// HubState+Events.swift applies events; HubState+Time.swift handles time and endings.
import Domain

package struct HubLimits: Sendable {
    /// How many of a thread's events are kept, and how many of the events for one user alone.
    package var mailboxEventCountMax = 512
    package var mailboxByteCountMax = 1 << 20
    /// How many recent events are kept, to close the gap between a read of the database and the tail.
    package var recentEventCountMax = 8192
    package var recentByteCountMax = 32 << 20
    package var answerByteCountMax = 256 << 10
    /// How many polls may wait, including streams: of one session, and of all sessions of an account.
    package var sessionPollCountMax = 8
    package var accountPollCountMax = 64
    /// How many ticks a mailbox is kept after its last poll: 90 s.
    package var mailboxIdleTickCountMax = 90_000 / HubLimits.tickMs
    /// How many ticks a user counts as online after the last poll: 60 s.
    package var onlineTickCountMax = 60_000 / HubLimits.tickMs
    /// How many ticks after the end of its last poll a device counts as gone: 2 s.
    package var deviceWaitTickCount = 2000 / HubLimits.tickMs
    package init() {}

    /// The length of a tick, in milliseconds.
    package static let tickMs = 250
    static let secondTickCount = 1000 / tickMs
    /// Twenty seconds.
    static let longWaitTickCount = 20 * secondTickCount
    /// 45 s: more than the 40 s after which the kernel closes a connection that acknowledges nothing.
    static let streamLagTickCount = 45 * secondTickCount
}

/// An answer to parked polls. It is sent after the hub's lock is released.
package struct Wake: Sendable {
    package var waiters: [any Waiter]
    package var answer: PollAnswer
}

/// The mailboxes of a node and the polls parked at them. Events are applied in the order of the log. A mailbox has the
/// memberships of its user as read at one position, changed by the events after it.
struct HubState {
    enum PollDecision {
        case answer(PollAnswer)
        /// The poll waits under this number. `displaced` answers an older poll that had to make room.
        case parked(UInt64, displaced: Wake?)
        /// No mailbox reaches back to the cursor: read the database, then `open`.
        case cold
    }

    let limits: HubLimits
    /// Everything up to here has been applied.
    var head: Position
    /// The epoch that is being read. Positions of different epochs cannot be compared.
    var epoch: Int32
    /// The epochs that this node has seen end, with the first position after each: a cursor before that is valid here.
    var ends: [Int32: Position] = [:]
    var tick = 0
    var counters = HubCounters()
    var isClosing = false
    var mailboxes: [UserID: Mailbox] = [:]
    /// The feeds of threads that have mailboxes.
    var feeds: [ThreadID: Feed] = [:]
    /// The latest events of all threads and users.
    var recent: EventQueue
    /// The mailboxes to check, by tick. A mailbox whose `alarmTick` has changed is skipped.
    var alarms: [Int: [Mailbox]] = [:]
    /// Delivered marks that are not stored yet.
    var deliveries = HubDeliveries()
    /// Users who came and went since the last `takePresence`.
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

    /// Long waits end at whole seconds, up to 0.75 s early: ending many polls at once costs less for each.
    private func deadlineTick(after waitTickCount: Int) -> Int {
        let exact = tick + waitTickCount + 1
        return waitTickCount < HubLimits.longWaitTickCount ? exact : exact - exact % HubLimits.secondTickCount
    }

    /// Answers from the mailbox, or parks the poll for `waitTickCount`.
    /// - Parameter isGiven: the cursor is known to be within the log, although this node may not have read that far. A
    ///   client's own cursor is not known to be.
    mutating func poll(
        _ identity: Identity, from cursor: Cursor, limit: Int, waitTickCount: Int, waiter: any Waiter,
        acks: Bool = true, isGiven: Bool = true
    ) -> PollDecision {
        guard !isClosing else { return .answer(.closing(upTo: cursor)) }
        let position = cursor.position
        guard isKept(cursor), let mailbox = mailboxes[identity.user],
            // Past this node's head only the database knows whether the position exists.
            isGiven || position <= max(head, mailbox.openedAt),
            let found = mailbox.events(after: position, limit: limit, byteCountMax: limits.answerByteCountMax)
        else { return .cold }
        mailbox.lastPolledTick = tick
        if acks { recordAck(of: identity.session, upTo: position, in: mailbox) }
        markOnline(mailbox)
        let poller = recordPoll(identity, in: mailbox, at: position, acks: acks)
        if found.events.isEmpty, let held = heldAnswer(mailbox, after: position, limit: limit) {
            recordEnd(poller)
            return .answer(held)
        }
        if !found.events.isEmpty || waitTickCount == 0 {
            recordEnd(poller)
            return .answer(answer(found, mailbox: mailbox, after: position))
        }
        let displaced = makeRoom(for: identity.session, in: mailbox)
        lastPoll += 1
        // The present tick is partly over.
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

    /// Makes room for one more poll of the session: if the session or its account has as many as may wait, its oldest
    /// poll is removed. Costs a comparison, unless the account has enough polls for one session to have too many.
    private mutating func makeRoom(for session: SessionID, in mailbox: Mailbox) -> Wake? {
        let count = mailbox.parked.count
        guard count >= min(limits.sessionPollCountMax, limits.accountPollCountMax) else { return nil }
        // Parked polls are in the order of their arrival.
        let oldest: Int?
        if mailbox.parked.count(where: { $0.session == session }) >= limits.sessionPollCountMax {
            oldest = mailbox.parked.firstIndex { $0.session == session }
        } else {
            oldest = count >= limits.accountPollCountMax ? 0 : nil
        }
        guard let oldest else { return nil }
        let poll = mailbox.parked.remove(at: oldest)
        recordEnd(poll)
        counters.parked -= 1
        counters.displaced += 1
        let upTo = max(head, mailbox.openedAt, poll.after)
        return Wake(waiters: [poll.waiter], answer: .displaced(upTo: Cursor(epoch: epoch, position: upTo)))
    }

    /// Removes a poll without answering it. Returns false if it was answered already.
    mutating func cancel(_ user: UserID, poll: UInt64) -> Bool {
        guard let mailbox = mailboxes[user], let index = mailbox.parked.firstIndex(where: { $0.id == poll }) else {
            return false
        }
        recordEnd(mailbox.parked.remove(at: index))
        mailbox.lastPolledTick = tick
        counters.parked -= 1
        counters.abandoned += 1
        return true
    }

    // MARK: Mailboxes

    /// Creates a mailbox from what was read from the database at `position`, unless one reaches back as far. Returns
    /// false if the events since then are no longer among the recent ones: read again.
    /// - Parameter acked: the device that polled, with its cursor; nil if the cursor was not its own.
    mutating func open(
        _ user: UserID, threads: [ThreadID], at snapshot: Cursor, acked: (session: SessionID, position: Position)? = nil
    ) -> Bool {
        let position = snapshot.position
        guard snapshot.epoch == epoch else { return false }
        // An existing mailbox may lack dropped events. Its parked polls stay, because they wait for later events.
        if let mailbox = mailboxes[user] {
            if let acked { recordAck(of: acked.session, upTo: acked.position, in: mailbox) }
            markOnline(mailbox)
            return mailbox.since <= position
        }
        guard position >= recent.since else { return false }
        let mailbox = Mailbox(user: user, at: position, head: head, tick: tick)
        mailboxes[user] = mailbox
        if let acked { recordAck(of: acked.session, upTo: acked.position, in: mailbox) }
        markOnline(mailbox)
        for thread in threads { mailbox.join(feed(thread, since: position), since: position) }
        for event in recent.after(position) {
            if event.begins.contains(user) { begin(mailbox, with: event) }
            if event.ends.contains(user) { end(mailbox, with: event) }
            if event.user == user { addOwn(event, to: mailbox) }
        }
        return true
    }

    /// Returns the thread's feed with all events after `position`, which `recent` must have. Makes the feed if there is
    /// none.
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

    /// Begins the user's membership of the event's thread.
    mutating func begin(_ mailbox: Mailbox, with event: Event) {
        guard let thread = event.thread, event.position > mailbox.openedAt else { return }
        let before = Position(event.position.value - 1)
        mailbox.join(feed(thread, since: before), since: before)
    }

    /// Ends the user's membership of the event's thread. The event itself is the last one that they see of it.
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
