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
    struct State {
        /// When the node last knew itself to have read the log to its end.
        var caughtUpAt: ContinuousClock.Instant?
        /// The oldest notification that the log hasn't been read for.
        var notifiedAt: ContinuousClock.Instant?
        /// The last position that a notification told of.
        var notified = Position(0)
        var isToBeChecked = true
        /// This node has written what doesn't come next here.
        var isBehindOwn = false
        var turns = TurnState()
    }

    let store: Store
    private let listener: PostgresListener
    let hub: Hub
    let sessions: SessionCache
    let logger: Logger
    let state = Mutex(State())
    private let catchUps = ReadBarrier()
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
    package let metrics = TailMetrics()
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
                    case .notification(let payload): self.hear(payload)
                    case .disconnected(let reason):
                        self.logger.warning("listening connection lost", metadata: ["reason": "\(reason)"])
                    }
                }
            }
            group.addTask {
                while true {
                    try await Ticker.sleep(Self.checkInterval)
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
                        self.metrics.failures.add()
                        self.logger.warning("the log can't be read", metadata: ["reason": "\(error)"])
                    }
                }
            }
        }
    }

    /// A notification, `position node`, of events that come here only by reading, unless this node has written them. While
    /// it writes, the read after its call is soon enough.
    private func hear(_ payload: String) {
        let parts = payload.split(separator: " ", maxSplits: 1)
        if parts.count == 2, parts[1] == node { return }
        let position = parts.first.flatMap { Int64($0) }.map { Position($0) }
        let isNews = position.map { $0 > hub.head.position } ?? true
        let isToBeRead = state.withLock { state in
            state.turns.areShared = true
            guard isNews else { return false }
            state.notifiedAt = state.notifiedAt ?? .now
            state.notified = max(state.notified, position ?? state.notified)
            return !state.turns.isWriting
        }
        if isToBeRead { wake.continuation.yield() }
    }

    /// A call of this node failed, and may have written something nevertheless.
    func check() {
        ask { $0.isToBeChecked = true }
    }

    func ask(_ why: (inout State) -> Void = { _ in }) {
        state.withLock { why(&$0) }
        wake.continuation.yield()
    }
}
