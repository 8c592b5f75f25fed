// Ends sessions that were not used for a long time.
import Domain
import Log
import Logging
import Store
import Telemetry
import Workers

/// Walks through all sessions, one part at a time, again and again. Runs on every node. Its pace matters little: an
/// expired session is refused whether or not the sweep has ended it.
struct SessionSweep: Sendable {
    /// Sessions of a part: 2 ms of a connection.
    private static let partLimit = 500
    /// The pause between parts: a million sessions take three hours.
    private static let interval = Duration.seconds(5)

    let store: Store
    let idleDays: Int
    let metrics = SessionMetrics()
    let logger: Logger

    var component: Component {
        Component("sessionSweep", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        var last: SessionID?
        let worker = Worker(
            "ending unused sessions", every: Self.interval, retryAfter: Self.interval, failures: metrics.failures,
            logger: logger)
        try await worker.run {
            let part = try await store.sweepSessions(after: last, limit: Self.partLimit, idleDays: idleDays)
            last = part.next
            metrics.expired.add(part.endedCount)
            if part.endedCount > 0 {
                logger.info("unused sessions ended", metadata: ["count": "\(part.endedCount)"])
            }
            return .idle
        }
    }
}

final class SessionMetrics: Metrics {
    let expired = Counter(
        "parley_sessions_expired_total", "Sessions that this node ended after `PARLEY_SESSION_IDLE_DAYS` without use.")
    let failures = Counter()
}
