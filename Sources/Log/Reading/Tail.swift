// The tail: this node's only reader of the log. Everything in real time on the node follows from what it reads.
import Domain
import FoundationEssentials
import Logging
import Store
import Synchronization
import Workers

/// Reads the log after each notification, and twice a second in case one was lost. Hands the events to the hub in
/// order. It need not read what this node wrote itself, if that comes next.
package final class Tail: Sendable {
    /// When the log was last read, and why to read it next. All reasons that come up during a read cause one more read.
    struct State {
        /// When the node last knew that it had read the log to its end.
        var caughtUpAt: ContinuousClock.Instant?
        /// When the oldest notification came that no read has followed yet.
        var notifiedAt: ContinuousClock.Instant?
        /// The last position that a notification named.
        var notified = Position(0)
        var isToBeChecked = true
        /// This node has written events that do not come next here: others wrote in between.
        var isBehindOwn = false
        var turns = TurnState()
    }

    let store: Store
    private let listener: NotificationListener
    let hub: Hub
    let sessions: SessionCache
    let adminKeys: AdminKeyCache
    let logger: Logger
    let state = Mutex(State())
    private let readBarrier = ReadBarrier()
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init(
        store: Store, listener: NotificationListener, hub: Hub, sessions: SessionCache, adminKeys: AdminKeyCache,
        logger: Logger
    ) {
        self.store = store
        self.listener = listener
        self.hub = hub
        self.sessions = sessions
        self.adminKeys = adminKeys
        self.logger = logger
    }

    /// A lost notification delays an event by at most this. A sign-out must reach every node within a second; this is
    /// half.
    private static let checkInterval = Duration.milliseconds(500)
    package let metrics = TailMetrics()
    /// The node's name in its own notifications.
    let node = String(UInt64.random(in: 0...(.max)), radix: 36)

    /// Whether this node's caches may be trusted: it has read the log to its end within this time, and knows all
    /// earlier changes.
    package func isFresh(within age: Duration = .milliseconds(2500)) -> Bool {
        state.withLock { state in state.caughtUpAt.map { ContinuousClock.now - $0 < age } ?? false }
    }

    /// Returns when this node has delivered everything that was committed before the call. Costs one read of the log,
    /// shared by simultaneous callers.
    package func catchUp() async throws {
        try await readBarrier.wait { wake.continuation.yield() }
    }

    /// Runs until cancelled.
    package func run() async throws {
        defer { readBarrier.close() }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await self.listener.run { event in
                    switch event {
                    case .connected: self.ask { $0.isToBeChecked = true }
                    case .notification(let payload): self.handle(notification: payload)
                    case .disconnected(let reason):
                        self.logger.warning(
                            "the listening connection broke; reconnecting",
                            metadata: ["reason": "\(reason)"])
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
                        try await self.readBarrier.serve { try await self.read() }
                    } catch is CancellationError {
                        throw CancellationError()
                    } catch {
                        self.metrics.failures.add()
                        self.logger.warning(
                            "reading the log failed; retrying within 0.5 s", metadata: ["reason": "\(error)"])
                    }
                }
            }
        }
    }

    /// Handles a notification, `position node`. Events of other nodes only come here by reading. While this node
    /// writes, the read after its call is soon enough.
    private func handle(notification payload: String) {
        let parts = payload.split(separator: " ", maxSplits: 1)
        guard parts.last != node[...], let position = parts.first.flatMap({ Int64($0) }).map({ Position($0) })
        else { return }
        let isNews = position > hub.head.position
        let isToBeRead = state.withLock { state in
            state.turns.areShared = true
            guard isNews else { return false }
            state.notifiedAt = state.notifiedAt ?? .now
            state.notified = max(state.notified, position)
            return !state.turns.isWriting
        }
        if isToBeRead { wake.continuation.yield() }
    }

    /// Has the log checked: a call of this node failed, and may have written something.
    func check() {
        ask { $0.isToBeChecked = true }
    }

    func ask(_ why: (inout State) -> Void = { _ in }) {
        state.withLock { why(&$0) }
        wake.continuation.yield()
    }
}
