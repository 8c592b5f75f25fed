// The lag of the consumers of the changes feed, for /metrics.
import API
import Domain
import Logging
import Store
import Workers

/// Looks how far the named consumers are behind.
struct ConsumerLag: Sendable {
    /// Between looks. A look costs some index probes a consumer.
    private static let interval = Duration.seconds(10)

    let store: Store
    let metrics: ChangesMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker(
            "reading the lag of consumers", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            metrics.set(try await store.consumers(PageRequest(limit: ConsumerName.countMax)).consumers)
            return .idle
        }
    }
}
