// Publishes receipts of threads with many readers: together, a moment after they were written.
import Domain
import Logging
import Store
import Telemetry
import Workers

/// Has the database publish the receipts that are due.
package struct ReceiptWorker: Sendable {
    /// Between looks for receipts that a dead node left unpublished.
    private static let checkInterval = Duration.seconds(10)
    private static let retryAfter = Duration.seconds(1)
    /// Threads of one call: up to a hundred receipts of each.
    private static let threadCountMax = 20

    private let unpublished: UnpublishedReceipts
    private let store: Store
    private let worker: Worker

    package init(_ unpublished: UnpublishedReceipts, store: Store, logger: Logger) {
        self.unpublished = unpublished
        self.store = store
        worker = Worker("publishing receipts", retryAfter: Self.retryAfter, logger: logger)
    }

    package var failures: Counter { worker.failures }

    /// Runs until cancelled. Receipts that are unpublished then are published by another node, or by this one after its
    /// next start.
    package func run() async throws {
        var nextCheck = ContinuousClock.now
        try await worker.run {
            var due = unpublished.takeDue(at: .now)[...]
            while !due.isEmpty {
                try await publish(in: Array(due.prefix(Self.threadCountMax)))
                due = due.dropFirst(Self.threadCountMax)
            }
            if ContinuousClock.now >= nextCheck {
                nextCheck = .now + Self.checkInterval
                try await publish(in: nil)
            }
            return .idle
        }
    }

    /// The receipts are in the database, so nothing is lost by publishing them later.
    ///
    /// - Parameter threads: nil for all threads with receipts that are overdue.
    private func publish(in threads: [ThreadID]?) async throws {
        if let rest = try await worker.attempt({ try await store.publishReceipts(in: threads) }) {
            unpublished.add(rest, due: .now + Ticker.interval)
        } else {
            unpublished.add(threads ?? [], due: .now + Self.retryAfter)
        }
    }
}
