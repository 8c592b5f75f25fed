// Ends sessions that nobody has used for long.
import Domain
import Log
import Logging
import Store
import Telemetry

/// Walks through the sessions, a part at a time, over and over. Any number of nodes may; nobody depends on how soon it
/// comes by, since a session that is over is refused in any case.
struct SessionSweep: Sendable {
    /// Sessions of a part: two milliseconds of a connection.
    private static let partLimit = 500
    /// Between parts: a million sessions are gone through in three hours.
    private static let interval = Duration.seconds(5)

    let store: Store
    let idleDays: Int
    let metrics: SessionMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        var last: SessionID?
        while true {
            do {
                let part = try await store.sweepSessions(after: last, limit: Self.partLimit, idleDays: idleDays)
                last = part.next
                metrics.expired.add(part.endedCount)
                if part.endedCount > 0 {
                    logger.info("sessions ended that nobody used", metadata: ["count": "\(part.endedCount)"])
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.warning("ending unused sessions has to wait", metadata: ["reason": "\(error)"])
            }
            try await Ticker.sleep(Self.interval)
        }
    }
}

/// What this node has done for it.
final class SessionMetrics: Sendable {
    let expired = Counter()

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_sessions_expired_total", "Sessions that this node ended because nobody had used them.",
            expired.value)
    }
}
