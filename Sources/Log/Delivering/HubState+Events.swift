// Applying the log's events: first to feeds and mailboxes; then, once for each read, answering the polls.
import Domain

/// The feeds and mailboxes that one read of the log changed.
private struct Sources {
    var feeds: [Feed] = []
    /// Mailboxes with events of their own, or whose memberships changed.
    var mailboxes: [Mailbox] = []
    /// The log's head before the read.
    let before: Position
}

extension HubState {
    /// Applies the next events of the log and returns the answers to send. Ignores events at or below `head`.
    mutating func apply(_ events: [Event]) -> [Wake] {
        var wakes: [Wake] = []
        var sources = Sources(before: head)
        for event in events where event.position > head {
            for user in event.begins {
                if let mailbox = mailboxes[user] {
                    begin(mailbox, with: event)
                    sources.mailboxes.append(mailbox)
                }
            }
            for user in event.ends {
                if let mailbox = mailboxes[user] {
                    end(mailbox, with: event)
                    sources.mailboxes.append(mailbox)
                }
            }
            deliver(event, &sources)
            if let withdrawn = event.withdraws { forget(upTo: withdrawn, thread: event.thread) }
            if let session = event.session, let user = event.user { wakes += revoke(session, of: user) }
        }
        wake(sources, &wakes)
        return wakes
    }

    private mutating func deliver(_ event: Event, _ sources: inout Sources) {
        if let user = event.user {
            if let mailbox = mailboxes[user] {
                addOwn(event, to: mailbox)
                sources.mailboxes.append(mailbox)
            }
        } else if let thread = event.thread, let feed = feeds[thread] {
            if feed.events.last <= sources.before { sources.feeds.append(feed) }
            counters.delivered += feed.mailboxes.count
            deliveries.record(event, in: feed, at: tick)
            counters.dropped += feed.events.append(
                event, countMax: limits.mailboxEventCountMax, byteCountMax: limits.mailboxByteCountMax)
        }
        _ = recent.append(event, countMax: limits.recentEventCountMax, byteCountMax: limits.recentByteCountMax)
        head = event.position
    }

    /// Drops withdrawn content from the node's memory; it is then read from the database.
    private mutating func forget(upTo position: Position, thread: ThreadID?) {
        recent.forget(upTo: position)
        if let thread {
            feeds[thread]?.events.forget(upTo: position)
        } else {
            // An erased user, who may be named in any thread and in any user's events.
            for feed in feeds.values { feed.events.forget(upTo: position) }
            for mailbox in mailboxes.values { mailbox.own.forget(upTo: position) }
        }
    }

    private mutating func revoke(_ session: SessionID, of user: UserID) -> [Wake] {
        if let poller = pollers.here[session] { recordGone(poller) }
        guard let mailbox = mailboxes[user] else { return [] }
        mailbox.devices.removeAll { $0.session == session }
        let ended = mailbox.parked.filter { $0.session == session }
        guard !ended.isEmpty else { return [] }
        mailbox.parked.removeAll { $0.session == session }
        for poll in ended { recordEnd(poll) }
        counters.parked -= ended.count
        return [Wake(waiters: ended.map(\.waiter), answer: .revoked)]
    }

    // MARK: Waking

    /// Answers the parked polls that the read concerns. Polls that get all events from one feed share one answer.
    private mutating func wake(_ sources: Sources, _ wakes: inout [Wake]) {
        for feed in sources.feeds {
            for mailbox in feed.mailboxes {
                mailbox.last = head
                mailbox.sourceCount += 1
            }
        }
        for mailbox in sources.mailboxes {
            mailbox.last = head
            // Events of its own make its answer different from the others'.
            mailbox.sourceCount += 2
        }
        for feed in sources.feeds { wake(feed, sources.before, &wakes) }
        for mailbox in sources.mailboxes {
            mailbox.sourceCount = 0
            wakeAlone(mailbox, sources.before, &wakes)
        }
    }

    private mutating func wake(_ feed: Feed, _ before: Position, _ wakes: inout [Wake]) {
        let fresh = Array(feed.events.after(before))
        let byteCount = fresh.reduce(0) { $0 + $1.body.count }
        let isShared = feed.events.since <= before && byteCount <= limits.answerByteCountMax
        var waiters: [any Waiter] = []
        for mailbox in feed.mailboxes {
            let isAlone = mailbox.sourceCount != 1 || !isShared || mailbox.since > before
            mailbox.sourceCount = 0
            guard !mailbox.parked.isEmpty else { continue }
            if isAlone || mailbox.parked.contains(where: { $0.after > before || $0.limit < fresh.count }) {
                wakeAlone(mailbox, before, &wakes)
            } else {
                for poll in mailbox.parked {
                    waiters.append(poll.waiter)
                    recordEnd(poll)
                }
                counters.parked -= mailbox.parked.count
                mailbox.parked.removeAll(keepingCapacity: true)
                mailbox.lastPolledTick = tick
            }
        }
        guard !waiters.isEmpty else { return }
        let answer = PollAnswer.events(fresh, upTo: Cursor(epoch: epoch, position: head), more: false)
        wakes.append(Wake(waiters: waiters, answer: answer))
    }

    /// Answers the polls of one mailbox that have new events.
    private mutating func wakeAlone(_ mailbox: Mailbox, _ before: Position, _ wakes: inout [Wake]) {
        var waiting: [ParkedPoll] = []
        for poll in mailbox.parked {
            // The poll waited because nothing up to `before` concerned it.
            let after = max(poll.after, before)
            let found = mailbox.events(after: after, limit: poll.limit, byteCountMax: limits.answerByteCountMax)
            if let found, found.events.isEmpty {
                // The cursor is from a node whose tail is ahead of this one's.
                waiting.append(poll)
            } else if let found {
                let answer = answer(found, mailbox: mailbox, after: after)
                wakes.append(Wake(waiters: [poll.waiter], answer: answer))
                recordEnd(poll)
            } else {
                // One read brought more than is kept, or a message with its withdrawal: the missing events are only in
                // the database. The client polls again at once, and gets them from there.
                let same = Cursor(epoch: epoch, position: poll.after)
                wakes.append(Wake(waiters: [poll.waiter], answer: .events([], upTo: same, more: true)))
                recordEnd(poll)
            }
        }
        guard waiting.count < mailbox.parked.count else { return }
        counters.parked -= mailbox.parked.count - waiting.count
        mailbox.parked = waiting
        mailbox.lastPolledTick = tick
    }
}
