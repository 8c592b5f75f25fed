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

extension Feature {
    /// The calls on the changes feed, and the lag of its consumers.
    static func changes(_ node: NodeCore) -> Feature {
        let metrics = ChangesMetrics()
        let lag = ConsumerLag(store: node.store, metrics: metrics, logger: node.logger)
        return Feature(
            routes: ChangesCalls(node.calls, metrics: metrics).routes,
            components: [Component("changes", failures: [metrics.failures], metrics: metrics.write, run: lag.run)])
    }
}
