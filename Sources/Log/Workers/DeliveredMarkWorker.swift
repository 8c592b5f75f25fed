// Writes delivered marks down: seldom, in batches, one at a time, and never in anybody's way.
import Domain
import Logging
import Store
import Telemetry

/// Takes from the hub what devices have got, and tells the database.
package struct DeliveredMarkWorker: Sendable {
    /// Of one call. Small, so that a statement that waits behind it on its connection hardly notices.
    private static let batchCountMax = 100
    private static let interval = Duration.milliseconds(500)
    /// Between the calls of one round: in a large room marks of thousands come together.
    private static let pause = Duration.milliseconds(20)

    private let hub: Hub
    private let store: Store
    private let metrics: DeliveryMetrics
    private let logger: Logger

    package init(hub: Hub, store: Store, metrics: DeliveryMetrics, logger: Logger) {
        self.hub = hub
        self.store = store
        self.metrics = metrics
        self.logger = logger
    }

    /// Runs until cancelled. What is under way then is said again by the clients' next polls, wherever they go.
    package func run() async throws {
        while true {
            try await Ticker.sleep(Self.interval)
            var rest = hub.takeDeliveries()[...]
            while !rest.isEmpty {
                try await write(Array(rest.prefix(Self.batchCountMax)))
                rest = rest.dropFirst(Self.batchCountMax)
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Tries until it is done: while the database is away, the hub keeps what comes meanwhile, a mark a thread and member.
    private func write(_ batch: [Delivery]) async throws {
        while true {
            do {
                try await store.deliver(batch)
                metrics.marks.add(batch.count)
                return
            } catch let problem as Problem where problem.code == .internalError {
                // A fault in the data would be one tomorrow, too. These marks come with later ones.
                logger.error("delivered marks were refused", metadata: ["reason": "\(problem.detail)"])
                return
            } catch is Problem {
                metrics.failures.add()
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}

/// A node's delivered marks from cursors.
package final class DeliveryMetrics: Sendable {
    /// Told to the database; some were there already.
    package let marks = Counter()
    package let failures = Counter()

    package init() {}
}
