// Withdraws what is to be kept no longer.
import Logging
import Store
import Telemetry

/// Any number of nodes may; what one has in hand the others leave to it, and what it leaves undone they do.
struct RetentionSweep: Sendable {
    /// Of a call, during which the threads concerned take no messages.
    private static let passLimit = 100
    /// Between looks whether something is due, and so how late content goes. Costs two index probes.
    private static let interval = Duration.seconds(1)

    let store: Store
    let silentDays: Int
    let metrics: RetentionMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        var deliveredFirst = false
        let upkeep = Upkeep(
            interval: Self.interval, complaint: "withdrawing content has to wait", failures: metrics.failures,
            logger: logger)
        try await upkeep.run {
            let count = try await store.sweepRetention(
                limit: Self.passLimit, silentDays: silentDays, deliveredFirst: deliveredFirst)
            metrics.looked.add(count)
            // In turns, so that many of the one don't keep the other waiting.
            deliveredFirst.toggle()
            return count > 0
        }
    }
}

/// What this node has done for it.
final class RetentionMetrics: Sendable {
    /// Messages whose time was up, and threads looked at for content that every device has.
    let looked = Counter()
    let failures = Counter()

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_retention_looks_total",
            "Messages whose time was up, and threads looked at for content that all devices have.", looked.value)
        text.counter("parley_retention_failures_total", "Calls for that which failed.", failures.value)
    }
}
