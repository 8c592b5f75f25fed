// Deletes objects of deleted attachments from the object store.
import Logging
import ObjectStore
import Store
import Telemetry
import Workers

/// Runs on every node that has an object store. A key stays in the garbage list until the store confirms the deletion,
/// or has no such object.
struct GarbageWorker: Sendable {
    /// Objects deleted at once.
    private static let batchCount = 16
    /// Between checks for keys. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    /// The time after which a key that was not deleted is tried again. Longer than a request may take.
    private static let leaseSeconds = 60

    let store: Store
    let objects: ObjectStore
    let metrics: ObjectMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let log = RateLimitedLog(logger)
        let worker = Worker(
            "deleting objects from the object store", every: Self.interval, failures: metrics.deletionFailures,
            logger: logger)
        try await worker.run {
            let keys = try await store.claimGarbage(limit: Self.batchCount, leaseSeconds: Self.leaseSeconds)
            guard !keys.isEmpty else { return .idle }
            let deleted = try await delete(keys, log)
            if !deleted.isEmpty { try await store.forgetGarbage(deleted) }
            metrics.deleted.add(deleted.count)
            // While the store is down, the other keys can wait for the next check.
            return deleted.count == keys.count ? .more : .idle
        }
    }

    /// Returns the keys that are deleted.
    private func delete(_ keys: [String], _ log: RateLimitedLog) async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for key in keys {
                group.addTask {
                    do {
                        try await objects.delete(key)
                        return key
                    } catch let error as ObjectStoreError {
                        metrics.deletionFailures.add()
                        log.warning(
                            "deleting an object from the object store failed; it is retried", reason: "\(error)")
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { if let key = $1 { $0.append(key) } }
        }
    }
}
