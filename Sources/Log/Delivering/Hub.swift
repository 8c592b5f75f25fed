// The hub delivers the log to the polls. `HubState` decides; the hub has the lock, the clock and the sending.
import Domain
import Logging
import Store
import Synchronization
import Workers

/// Delivers the log's events to the polls of this node.
///
/// A poll is answered from its user's mailbox, or parked there. When no mailbox reaches back to its cursor, the hub
/// reads the database. This order loses no event: open the mailbox at the snapshot of the read, add the events that the
/// tail has brought since, then park the poll.
package final class Hub: Sendable {
    private let state: Mutex<HubState>
    private let store: Store
    private let limits: HubLimits
    private let send: @Sendable ([Wake]) -> Void
    /// Signals that `head` has moved, to tasks that wait for more of the log without a mailbox.
    package let moved = HeadSignal()

    /// - Parameters:
    ///   - start: where this node's tail begins.
    ///   - send: answers parked polls. Called without any lock held, from the tail's task, the clock's task, and
    ///     callers of `poll`.
    package init(
        store: Store, start: Cursor, limits: HubLimits = HubLimits(), send: @escaping @Sendable ([Wake]) -> Void
    ) {
        self.store = store
        self.limits = limits
        self.send = send
        state = Mutex(HubState(start: start, limits: limits))
    }

    /// The point that this node's tail has reached.
    package var head: Cursor { state.withLock { Cursor(epoch: $0.epoch, position: $0.head) } }
    package var counters: HubCounters { state.withLock { $0.counters } }
    package var mailboxCount: Int { state.withLock { $0.mailboxCount } }

    package enum Outcome: Sendable {
        case answer(PollAnswer)
        /// The poll waits; the number is for `cancel`.
        case parked(UInt64)
        /// Only the database knows: use `read`.
        case cold
        /// The cursor is from a lost tail, or from before what the log keeps.
        case expired
    }

    /// Answers or parks a poll without a query and without suspension.
    /// - Parameters:
    ///   - acks: whether the cursor comes from the client: then the client has received everything before it.
    ///   - isGiven: whether the cursor comes from an answer of this node. A client's cursor past the events that
    ///     this node has read is cold: only the database knows whether its position exists.
    package func poll(
        _ identity: Identity, from cursor: Cursor, limit: Int, waitMs: Int, waiter: any Waiter, acks: Bool = true,
        isGiven: Bool = false
    ) -> Outcome {
        let waitTickCount = (waitMs + HubLimits.tickMs - 1) / HubLimits.tickMs
        let decision = state.withLock {
            $0.poll(
                identity, from: cursor, limit: limit, waitTickCount: waitTickCount, waiter: waiter, acks: acks,
                isGiven: isGiven)
        }
        switch decision {
        case .answer(let answer): return .answer(answer)
        case .parked(let poll, let displaced):
            if let displaced { send([displaced]) }
            return .parked(poll)
        case .cold: return .cold
        }
    }

    /// Reads what the mailbox lacks from the database, opens the mailbox, and answers or parks as `poll` does.
    package func read(
        _ identity: Identity, from cursor: Cursor, limit: Int, waitMs: Int, waiter: any Waiter, acks: Bool = true
    ) async throws -> Outcome {
        // At most the node's head: the database has not confirmed yet that the cursor's position exists.
        let poller = state.withLock { $0.beginRead(identity, from: min(cursor.position, $0.head), acks: acks) }
        defer { state.withLock { $0.endRead(poller) } }
        // Repeats only if the tail moved past the recent events during the read.
        for _ in 0..<5 {
            let found = try await store.catchUp(
                identity.user, from: cursor, limit: limit, byteCountMax: limits.answerByteCountMax)
            switch found {
            case .expired:
                return .expired
            case .part(let events, let last):
                return .answer(.events(events.map(Event.init), upTo: last, more: true))
            case .whole(let events, let head, let threads):
                let isOpen = state.withLock {
                    $0.open(
                        identity.user, threads: threads, at: head,
                        acked: acks ? (identity.session, cursor.position) : nil)
                }
                if !events.isEmpty {
                    return .answer(.events(events.map(Event.init), upTo: head, more: false))
                }
                guard isOpen else {
                    try await wait(for: head.epoch)
                    continue
                }
                switch poll(
                    identity, from: head, limit: limit, waitMs: waitMs, waiter: waiter, acks: acks, isGiven: true)
                {
                case .cold: continue
                case let outcome: return outcome
                }
            }
        }
        throw Problem(.overloaded, "This node is catching up. Retry after the seconds in Retry-After.", retryAfterS: 1)
    }

    /// Waits for the tail to reach an epoch that the database is in already. Opening an epoch also notifies.
    private func wait(for epoch: Int32) async throws {
        for _ in 0..<30 where head.epoch != epoch { try await Task.sleep(for: .milliseconds(50)) }
    }

    /// Removes and returns the delivered marks that are due.
    func takeDeliveries() -> [Delivery] { state.withLock { $0.takeDeliveries() } }

    /// Returns the users who came to this node or went since the last call.
    func takePresence() -> PresenceChanges { state.withLock { $0.takePresence() } }

    /// Returns the devices that came to this node or went since the last call.
    func takeDevices() -> DeviceChanges { state.withLock { $0.takeDevices() } }

    /// Records that all devices have gone: the node stops, and its polls have ended.
    func leaveDevices() { state.withLock { $0.recordAllGone() } }

    /// All devices that poll here.
    var devices: [PollingDevice] { state.withLock { $0.devices } }

    /// Whether the user polls here, or did within the last minute.
    func isOnline(_ user: UserID) -> Bool { state.withLock { $0.mailboxes[user]?.isOnline ?? false } }

    /// Delivers events that are not stored.
    func pass(_ events: [PassingEvent]) {
        finish(state.withLock { $0.pass(events) })
    }

    /// Removes a poll, because its client has gone or its session has ended. Returns false if it was answered already.
    @discardableResult
    package func cancel(_ user: UserID, poll: UInt64) -> Bool {
        state.withLock { $0.cancel(user, poll: poll) }
    }

    /// Applies the next events of the log.
    func apply(_ events: [Event]) {
        finish(state.withLock { $0.apply(events) })
        moved.signal()
    }

    /// Applies consecutive events, if nothing is missing between the node's head and them. Returns false if they have
    /// to be read from the log.
    func applyNext(_ events: [Event], epoch: Int32) -> Bool {
        guard let first = events.first else { return true }
        let wakes = state.withLock { state in
            let isNext = state.epoch == epoch && first.position.value <= state.head.value + 1
            return isNext ? state.apply(events) : nil
        }
        finish(wakes ?? [])
        moved.signal()
        return wakes != nil
    }

    /// Moves to a new epoch that has everything this node has read up to `read`. Returns false, and does nothing, if
    /// the node has read further since.
    /// - Parameter end: the first position after the former epoch.
    func adopt(epoch: Int32, after end: Position, from read: Cursor) -> Bool {
        let wakes = state.withLock { state in
            Cursor(epoch: state.epoch, position: state.head) == read ? state.adopt(epoch, after: end) : nil
        }
        finish(wakes ?? [])
        moved.signal()
        return wakes != nil
    }

    /// Drops everything: the log has lost a part of what this node has read.
    func restart(at cursor: Cursor) {
        finish(state.withLock { $0.restart(at: cursor) })
        moved.signal()
    }

    /// The clock: ends polls whose time is over. Runs until cancelled.
    package func run() async throws {
        let clock = ContinuousClock()
        var next = Ticker.next(.milliseconds(HubLimits.tickMs))
        while true {
            try await clock.sleep(until: next)
            next += .milliseconds(HubLimits.tickMs)
            finish(state.withLock { $0.advance() })
        }
    }

    /// Answers the waiting polls with no events, evenly over `duration`, so that their clients do not all return at
    /// once.
    package func drain(over duration: Duration) async {
        state.withLock { $0.beginClosing() }
        let stepMs = 50
        let steps = max(1, Int(duration / .milliseconds(stepMs)))
        let total = counters.parked
        for step in 1...steps {
            // Answers the polls beyond the number that an even pace would have left by now.
            let waiting = counters.parked
            finish(state.withLock { $0.drain(atMost: max(0, waiting - total * (steps - step) / steps)) })
            guard waiting > 0, (try? await Task.sleep(for: .milliseconds(stepMs))) != nil else { break }
        }
        finish(state.withLock { $0.drain(atMost: .max) })
    }

    private func finish(_ wakes: [Wake]) {
        if !wakes.isEmpty { send(wakes) }
    }
}

extension Event {
    /// For an answer from the database, which only needs the position and the body.
    fileprivate convenience init(_ read: (position: Position, body: JSONText)) {
        self.init(StoredEvent(position: read.position, type: "", body: read.body))
    }
}
