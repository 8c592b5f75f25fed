// The hub: where the log meets the polls. The decisions are `HubState`'s; here are the lock, the clock and the sending.
import Domain
import Logging
import Store
import Synchronization

/// Delivers the log's events to the polls of this node.
///
/// A poll is answered from its user's mailbox, parked there, or, when no mailbox reaches back to its cursor, read from
/// the database. The order that loses nothing: the mailbox is opened at the snapshot that the read was made in, takes in
/// what the tail has brought since from the recent events, and only then is the poll parked.
package final class Hub: Sendable {
    private let state: Mutex<HubState>
    private let store: Store
    private let limits: HubLimits
    private let send: @Sendable ([Wake]) -> Void

    /// - Parameters:
    ///   - start: where this node's tail begins.
    ///   - send: answers parked polls; called without any lock held, from the tail's and the clock's tasks, and from
    ///     the caller of `poll`.
    package init(
        store: Store, start: Cursor, limits: HubLimits = HubLimits(), send: @escaping @Sendable ([Wake]) -> Void
    ) {
        self.store = store
        self.limits = limits
        self.send = send
        state = Mutex(HubState(start: start, limits: limits))
    }

    /// Where this node's tail has come to.
    package var head: Cursor { state.withLock { Cursor(epoch: $0.epoch, position: $0.head) } }
    package var counters: HubCounters { state.withLock { $0.counters } }
    package var mailboxCount: Int { state.withLock { $0.mailboxCount } }

    package enum Outcome: Sendable {
        case answer(PollAnswer)
        /// The poll waits; the number takes it away again.
        case parked(UInt64)
        /// Only the database can tell: ask with `read`.
        case cold
        /// The cursor is from a lost tail, or older than the log keeps.
        case expired
    }

    /// The steady state: no query, no suspension. `wait` in milliseconds.
    /// - Parameters:
    ///   - acks: whether the cursor comes from the client: then the client has received everything before it.
    ///   - isGiven: whether the cursor comes from an answer of this node. A client's cursor past the events that this node
    ///     has read is cold: only the database knows whether its position exists.
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
        // No further than this node has come: the database hasn't said yet that there is such a position.
        let poller = state.withLock { $0.beginRead(identity, from: min(cursor.position, $0.head), acks: acks) }
        defer { state.withLock { $0.endRead(poller) } }
        // Again only if this node's tail ran further than it remembers while the database was being read.
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

    /// Gives the tail time to notice an epoch that the database is in already: what opens it also notifies.
    private func wait(for epoch: Int32) async throws {
        for _ in 0..<30 where head.epoch != epoch { try await Task.sleep(for: .milliseconds(50)) }
    }

    /// What devices have got since the last call, as far as it is due to be written down.
    func takeDeliveries() -> [Delivery] { state.withLock { $0.takeDeliveries() } }

    /// Who has come to this node and gone from it since the last call.
    func takePresence() -> PresenceChanges { state.withLock { $0.takePresence() } }

    /// Which devices have come to this node and gone from it since the last call.
    func takeDevices() -> DeviceChanges { state.withLock { $0.takeDevices() } }

    /// The node goes, and its polls have ended.
    func leaveDevices() { state.withLock { $0.noteAllGone() } }

    /// All devices that poll here.
    var devices: [PollingDevice] { state.withLock { $0.devices } }

    /// Whether the user polls here, or did lately.
    func isOnline(_ user: UserID) -> Bool { state.withLock { $0.mailboxes[user]?.isOnline ?? false } }

    /// Hands events that aren't kept to the polls that they concern.
    func pass(_ events: [PassingEvent]) {
        finish(state.withLock { $0.pass(events) })
    }

    /// Takes a poll away, because its client has gone or its session has ended; false if it has been answered.
    @discardableResult
    package func cancel(_ user: UserID, poll: UInt64) -> Bool {
        state.withLock { $0.cancel(user, poll: poll) }
    }

    /// Applies the next events of the log.
    func apply(_ events: [Event]) {
        finish(state.withLock { $0.apply(events) })
    }

    /// Applies events that follow upon each other, if nothing is missing between what this node has and them; false leaves
    /// them to be read.
    func applyNext(_ events: [Event], epoch: Int32) -> Bool {
        guard let first = events.first else { return true }
        let wakes = state.withLock { state in
            let isNext = state.epoch == epoch && first.position.value <= state.head.value + 1
            return isNext ? state.apply(events) : nil
        }
        finish(wakes ?? [])
        return wakes != nil
    }

    /// The log goes on in a new epoch, and all that this node has read up to `read` is part of it. False, and nothing done,
    /// when the node has come further since.
    /// - Parameter end: the first position after the epoch so far.
    func adopt(epoch: Int32, after end: Position, from read: Cursor) -> Bool {
        let wakes = state.withLock { state in
            Cursor(epoch: state.epoch, position: state.head) == read ? state.adopt(epoch, after: end) : nil
        }
        finish(wakes ?? [])
        return wakes != nil
    }

    /// Forgets everything: the log isn't what this node has read of it.
    func restart(at cursor: Cursor) {
        finish(state.withLock { $0.restart(at: cursor) })
    }

    /// The clock: ends polls whose time is up. Runs until cancelled.
    package func run() async throws {
        let clock = ContinuousClock()
        var next = Ticker.next(.milliseconds(HubLimits.tickMs))
        while true {
            try await clock.sleep(until: next)
            next += .milliseconds(HubLimits.tickMs)
            finish(state.withLock { $0.advance() })
        }
    }

    /// Answers the waiting polls with no events, evenly over `duration`, so that a restart is no stampede.
    package func drain(over duration: Duration) async {
        state.withLock { $0.beginClosing() }
        let stepMs = 50
        let steps = max(1, Int(duration / .milliseconds(stepMs)))
        let total = counters.parked
        for step in 1...steps {
            // Step by step as many as an even course would have left by now.
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
    /// For an answer from the database, where only the position and the body matter any more.
    fileprivate convenience init(_ read: (position: Position, body: JSONText)) {
        self.init(StoredEvent(position: read.position, type: "", body: read.body))
    }
}
