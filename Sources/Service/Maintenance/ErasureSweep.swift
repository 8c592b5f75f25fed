// Finishes the erasure of accounts in the background.
import Logging
import Store
import Telemetry
import Workers

/// Runs on every node. Each call locks its rows and skips rows locked by others, so nodes share the work and finish
/// what a dead node started.
struct ErasureSweep: Sendable {
    /// Messages of one call. Their thread accepts no messages during the call.
    private static let messageCountMax = 100
    /// Between checks for work. A check costs two index probes.
    private static let interval = Duration.seconds(1)

    let store: Store
    let metrics = ErasureMetrics()
    let logger: Logger

    var component: Component {
        Component("erasureSweep", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker("erasing accounts", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            guard try await store.sweepErasures(limit: Self.messageCountMax) else { return .idle }
            metrics.steps.add()
            return .more
        }
    }
}

final class ErasureMetrics: Metrics {
    let steps = Counter(
        "parley_erasure_steps_total",
        "Steps of account erasures that this node completed: a part of a thread, or of the log.")
    let failures = Counter()
}
