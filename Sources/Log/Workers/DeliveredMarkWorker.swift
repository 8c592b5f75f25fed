// Writes delivered marks to the database: seldom, in batches, one batch at a time.
import Domain
import Logging
import Store
import Telemetry
import Workers

/// Records in the database what devices have received, as the hub knows it.
package struct DeliveredMarkWorker: Sendable {
    /// Marks of one call. Few, so that a statement that waits behind the call on its connection hardly notices.
    private static let batchCountMax = 100
    private static let interval = Duration.milliseconds(500)
    /// Between the calls of one step: in a large room the marks of thousands come together.
    private static let pause = Duration.milliseconds(20)

    private let hub: Hub
    private let store: Store
    private let metrics: DeliveryMetrics
    private let worker: Worker
    private let logger: Logger

    package init(hub: Hub, store: Store, metrics: DeliveryMetrics, logger: Logger) {
        self.hub = hub
        self.store = store
        self.metrics = metrics
        self.logger = logger
        worker = Worker(
            "recording delivered marks", every: Self.interval, retryAfter: .seconds(1), failures: metrics.failures,
            logger: logger)
    }

    /// Runs until cancelled. Marks that are lost then are repeated by the clients' next polls, on any node.
    package func run() async throws {
        try await worker.run {
            var rest = hub.takeDeliveries()[...]
            while !rest.isEmpty {
                let batch = Array(rest.prefix(Self.batchCountMax))
                // While the database is down, the hub keeps later marks: one for each thread and member.
                try await worker.retry { try await record(batch) }
                rest = rest.dropFirst(Self.batchCountMax)
                try await Task.sleep(for: Self.pause)
            }
            return .idle
        }
    }

    private func record(_ batch: [Delivery]) async throws {
        do {
            try await store.deliver(batch)
            metrics.marks.add(batch.count)
        } catch let problem as Problem where problem.code == .internalError {
            // A fault in the data would fail tomorrow, too. Later marks include these.
            logger.error("delivered marks were refused; they are dropped", metadata: ["reason": "\(problem.detail)"])
        }
    }
}

package final class DeliveryMetrics: Metrics {
    package let marks = Counter(
        "parley_delivered_marks_total",
        "Delivered marks that follow from polls' cursors and were sent to the database, which may have some of them.")
    package let failures = Counter()

    package init() {}
}
