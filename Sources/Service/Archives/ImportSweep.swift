import Archives
// Drops imports that were abandoned.
import Logging
import Store
import Workers

/// Runs on every node. Each call drops one import and skips imports that are at work.
struct ImportSweep: Sendable {
    /// For how long an import by HTTP may stay without a new part. Its request ended with its node, or its client is so
    /// slow that a part takes longer.
    private static let idleS = 20 * 60
    /// For how long `parley import` may be continued.
    private static let fileIdleS = 7 * 86_400
    /// Between checks. A check reads a table of a few rows.
    private static let interval = Duration.seconds(60)

    let store: Store
    let metrics: ImportMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker(
            "dropping abandoned imports", every: Self.interval, retryAfter: Self.interval, failures: metrics.failures,
            logger: logger)
        try await worker.run {
            guard try await store.sweepImports(idleS: Self.idleS, fileIdleS: Self.fileIdleS) else { return .idle }
            metrics.swept.add()
            logger.info("an abandoned import was dropped")
            return .more
        }
    }
}
