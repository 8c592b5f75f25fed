// The tail: this node's one reader of the log. Everything real-time on the node follows from what it reads.
import Domain
import FoundationEssentials
import Logging
import Postgres
import Store
import Synchronization

/// Reads the log on each notification, and twice a second in case one was lost, and hands it to the hub in order.
/// What this node has written itself it needn't read, if it comes next.
package final class Tail: Sendable {
    /// Beside when the log was read last, why it is to be read next: what comes while it is being read is one more read,
    /// however much it is.
    private struct State {
        /// When the node last knew itself to have read the log to its end.
        var caughtUpAt: ContinuousClock.Instant?
        /// The oldest notification that the log hasn't been read for.
        var notifiedAt: ContinuousClock.Instant?
        var isToBeChecked = true
    }

    private let store: Store
    private let listener: PostgresListener
    private let hub: Hub
    private let sessions: SessionCache
    private let logger: Logger
    private let state = Mutex(State())
    private let catchUps = CatchUps()
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(store: Store, listener: PostgresListener, hub: Hub, sessions: SessionCache, logger: Logger) {
        self.store = store
        self.listener = listener
        self.hub = hub
        self.sessions = sessions
        self.logger = logger
    }

    package static let channel = "parley_log"
    /// A lost notification delays an event by this at most. Half of the second within which a sign-out must have come to
    /// every node.
    private static let checkInterval = Duration.milliseconds(500)
    package let figures = TailFigures()
    /// What this node signs its own notifications with.
    let node = String(UInt64.random(in: 0...(.max)), radix: 36)

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
                    case .notification(let payload):
                        if self.isNews(payload) { self.ask { $0.notifiedAt = $0.notifiedAt ?? .now } }
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

    /// Whether a notification, `position node`, is of events that will come here only by reading.
    private func isNews(_ payload: String) -> Bool {
        let parts = payload.split(separator: " ", maxSplits: 1)
        if parts.count == 2, parts[1] == node { return false }
        figures.heard.add()
        return parts.first.flatMap { Int64($0) }.map { Position($0) > hub.head.position } ?? true
    }

    /// Takes what this node has just written, as the call's answer brought it: it is committed, and if it comes next here,
    /// nothing below it is missing. Otherwise it is read like everything else.
    func take(written: LogPart) {
        guard let epoch = written.epoch, !written.events.isEmpty else { return }
        if hub.applyNext(written.events.map(Event.init), epoch: epoch) {
            figures.own.add(written.events.count)
            recordAges(of: written.events)
        } else {
            ask { $0.notifiedAt = $0.notifiedAt ?? .now }
        }
    }

    /// A call of this node failed, and may have written something nevertheless.
    func check() {
        ask { $0.isToBeChecked = true }
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
            let read = hub.head
            let start = ContinuousClock.now
            let part = try await store.readLog(after: read.position, limit: pageCount)
            if let first = part.events.first {
                if part.epoch != read.epoch || first.position.value != read.position.value + 1 {
                    try await checkHistory()
                    // Perhaps not what this node was reading: read from where it stands now.
                    if hub.head != read { continue }
                    guard part.epoch == read.epoch else {
                        // Two connections lead to databases of different history.
                        throw Problem(.unavailable, "The node is finding its place in the log.", retryAfterS: 1)
                    }
                }
                take(part.events, after: read.position)
                count(part.events, cause, notifiedAt: notifiedAt)
            }
            if part.events.count < pageCount {
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
        recordAges(of: delivered)
    }

    private func recordAges(of delivered: [StoredEvent]) {
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
        for event in delivered { figures.ages.record(.microseconds(now - event.at.microsSince1970)) }
    }

    /// Makes sure that the log still goes on from what this node has read. Where it does in a new epoch, all but the
    /// sessions stays (of a sign-in that was lost no event tells). Where it doesn't, everything is dropped.
    private func checkHistory() async throws {
        let read = hub.head
        var place = try await store.place(of: read)
        if place.state == .lost, place.now.epoch == read.epoch {
            try await store.reportLoss(of: read)
            place = try await store.place(of: read)
        }
        let metadata: Logger.Metadata = [
            "epoch": "\(place.now.epoch)", "read": "\(read.position.value)", "now": "\(place.now.position.value)",
        ]
        if place.state == .kept {
            guard place.now.epoch != read.epoch, let end = place.epochEnd else { return }
            logger.notice("the log goes on in a new epoch", metadata: metadata)
            sessions.restart(at: place.now.position)
            hub.adopt(epoch: place.now.epoch, after: end, from: read)
            figures.epochs.add()
        } else {
            let isLost = place.state == .lost
            logger.error(
                isLost ? "the log has lost its tail" : "the log was trimmed beyond what this node had read",
                metadata: metadata)
            sessions.restart(at: place.now.position)
            hub.restart(at: place.now)
            figures.restarts.add()
        }
    }
}
