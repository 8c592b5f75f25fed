// Finishes what the erasure of an account leaves to be done.
import Logging
import Store
import Telemetry

/// Any number of nodes may; what one has in hand the others leave to it, and what it leaves undone they do.
struct ErasureSweep: Sendable {
    /// Of a thread's messages, which takes none meanwhile.
    private static let messageCountMax = 100
    /// Between looks whether there is something to do. Costs two index probes.
    private static let interval = Duration.seconds(1)

    let store: Store
    let metrics: ErasureMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let upkeep = Upkeep(
            interval: Self.interval, complaint: "erasing has to wait", failures: metrics.failures, logger: logger)
        try await upkeep.run {
            let isDone = try await store.sweepErasures(limit: Self.messageCountMax)
            if isDone { metrics.steps.add() }
            return isDone
        }
    }
}

/// What this node has done for it.
final class ErasureMetrics: Sendable {
    /// Parts of erasures: of a thread, or of the log.
    let steps = Counter()
    let failures = Counter()

    func write(to text: inout MetricsText) {
        text.counter("parley_erasure_steps_total", "Parts of the erasure of accounts that were done.", steps.value)
        text.counter("parley_erasure_failures_total", "Calls for that which failed.", failures.value)
    }
}
