// The tail: this node's one reader of the log. Everything real-time on the node follows from what it reads.
import Domain
import FoundationEssentials
import Logging
import Postgres
import Store
import Synchronization

/// Reads the log on each notification, and twice a second in case one was lost, and hands it to the hub in order.
package final class Tail<Waiter: Sendable>: Sendable {
    private struct State {
        /// When the node last knew itself to have read the log to its end.
        var caughtUpAt: ContinuousClock.Instant?
        /// Why the log is to be read next. What comes while it is being read is one more read, however much it is.
        /// The oldest notification that the log hasn't been read for.
        var notifiedAt: ContinuousClock.Instant?
        var isToBeChecked = true
    }

    private let store: Store
    private let listener: PostgresListener
    private let hub: Hub<Waiter>
    private let sessions: SessionCache
    private let logger: Logger
    private let state = Mutex(State())
    private let catchUps = CatchUps()
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(store: Store, listener: PostgresListener, hub: Hub<Waiter>, sessions: SessionCache, logger: Logger) {
        self.store = store
        self.listener = listener
        self.hub = hub
        self.sessions = sessions
        self.logger = logger
    }

    package static var channel: String { "parley_log" }
    /// A lost notification delays an event by this at most. Half of the second within which a sign-out must have come to
    /// every node.
    private static var checkInterval: Duration { .milliseconds(500) }
    package let figures = TailFigures()

    /// Whether this node's caches may be trusted: it has read the log to its end within this time. What was changed
    /// before that is known here.
    package func isFresh(within age: Duration = .milliseconds(2500)) -> Bool {
        state.withLock { state in state.caughtUpAt.map { ContinuousClock.now - $0 < age } ?? false }
    }

    /// Returns once this node has delivered all that was committed before the call. Costs one read of the log, shared by
    /// all who ask at the same time.
    package func catchUp() async throws {
        try await catchUps.wait { wake.continuation.yield() }
    }

    /// Runs until cancelled.
    package func run() async throws {
        defer { catchUps.close() }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await self.listener.run { event in
                    switch event {
                    case .connected: self.ask { $0.isToBeChecked = true }
                    case .notification: self.ask { $0.notifiedAt = $0.notifiedAt ?? .now }
                    case .disconnected(let reason):
                        self.logger.warning("listening connection lost", metadata: ["reason": "\(reason)"])
                    }
                }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: Self.checkInterval)
                    self.ask { $0.isToBeChecked = true }
                }
            }
            group.addTask {
                self.ask { $0.isToBeChecked = true }
                for await _ in self.wake.stream {
                    do {
                        try await self.catchUps.serve { try await self.read() }
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        self.figures.failures.add()
                        self.logger.warning("the log can't be read", metadata: ["reason": "\(error)"])
                    }
                }
            }
        }
    }

    private func ask(_ why: (inout State) -> Void) {
        state.withLock { why(&$0) }
        wake.continuation.yield()
    }

    private func read() async throws {
        let (notifiedAt, isToBeChecked) = state.withLock { state in
            defer { (state.notifiedAt, state.isToBeChecked) = (nil, false) }
            return (state.notifiedAt, state.isToBeChecked)
        }
        if isToBeChecked { try await checkHistory() }
        let cause = notifiedAt != nil ? figures.notified : isToBeChecked ? figures.safety : figures.asked
        try await readOn(cause, notifiedAt: notifiedAt)
    }

    /// Reads to the log's end.
    private func readOn(_ cause: TailFigures.Cause, notifiedAt: ContinuousClock.Instant?) async throws {
        let pageCount = 1000
        while true {
            let after = hub.head.position
            let start = ContinuousClock.now
            let stored = try await store.readLog(after: after, limit: pageCount)
            if !stored.isEmpty {
                take(stored, after: after)
                count(stored, cause, notifiedAt: notifiedAt)
            }
            if stored.count < pageCount {
                state.withLock { $0.caughtUpAt = start }
                return
            }
        }
    }

    private func take(_ stored: [StoredEvent], after: Position) {
        var expected = after.value + 1
        var gaps = 0
        for event in stored {
            if event.position.value != expected { gaps += 1 }
            expected = event.position.value + 1
            if let session = event.session { sessions.revoke(session, at: event.position) }
        }
        if gaps > 0 {
            logger.critical(
                "positions are missing in the log", metadata: ["after": "\(after.value)", "gaps": "\(gaps)"])
        }
        hub.apply(stored.map(Event.init))
        figures.gaps.add(gaps)
    }

    private func count(
        _ delivered: [StoredEvent], _ cause: TailFigures.Cause, notifiedAt: ContinuousClock.Instant?
    ) {
        cause.reads.add()
        cause.events.add(delivered.count)
        if let notifiedAt { figures.deliveries.record(ContinuousClock.now - notifiedAt) }
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
        for event in delivered { figures.ages.record(.microseconds(now - event.at.microsSince1970)) }
    }

    /// A log that ends before what this node has read, or has another epoch, isn't the one it was reading.
    private func checkHistory() async throws {
        let now = try await store.now()
        let head = hub.head
        guard now.epoch != head.epoch || now.position < head.position else { return }
        logger.error(
            "the log has lost its tail", metadata: ["read": "\(head.position.value)", "now": "\(now.position.value)"])
        sessions.restart(at: now.position)
        hub.restart(at: now)
        figures.restarts.add()
    }
}
