// Deletes the bytes of attachments that nothing uses any more.
import Logging
import Store
import Workers

/// Runs on every node. Each call locks its rows and skips rows locked by others, so nodes share the work and finish
/// what a dead node started.
struct AttachmentSweep: Sendable {
    /// Attachments of one call. A call also deletes at most 64 chunks.
    private static let attachmentCountMax = 100
    /// Between checks for attachments to delete, and so the delay of their deletion. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    /// Between counts of all attachments, for `/metrics`.
    private static let measureInterval = Duration.seconds(60)

    let store: Store
    let metrics: AttachmentMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await worker("deleting unused attachments", every: Self.interval).run {
                    let count = try await store.sweepAttachments(limit: Self.attachmentCountMax)
                    metrics.swept.add(count)
                    return count > 0 ? .more : .idle
                }
            }
            group.addTask {
                try await worker("counting attachments", every: Self.measureInterval).run {
                    metrics.set(try await store.attachmentPlaces())
                    return .idle
                }
            }
        }
    }

    private func worker(_ operation: String, every interval: Duration) -> Worker {
        Worker(operation, every: interval, failures: metrics.sweepFailures, logger: logger)
    }
}
