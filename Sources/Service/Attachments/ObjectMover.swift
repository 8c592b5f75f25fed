// Moves ready attachments from PostgreSQL to the object store.
import Basics
import Logging
import ObjectStore
import Telemetry
import Workers

/// Runs on every node that has an object store. A claim is a lease, so that another node moves the attachments of a
/// dead one. While the store is away, attachments stay in PostgreSQL, and clients notice nothing.
struct ObjectMover: Sendable {
    /// Attachments under way at once.
    private static let moverCount = 2
    /// Between checks for attachments to move. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    /// The pause after a failure. It doubles with each further one.
    private static let retryFirst = Duration.seconds(1)
    private static let retryCap = Duration.seconds(30)

    let transfer: ObjectTransfer
    let metrics: ObjectMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let log = RateLimitedLog(logger)
        let worker = Worker(
            "claiming attachments to move", every: Self.interval, failures: metrics.moveFailures, logger: logger)
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<Self.moverCount {
                group.addTask {
                    var backoff = Backoff(first: Self.retryFirst, cap: Self.retryCap)
                    try await worker.run {
                        let moves = try await transfer.store.claimMoves(
                            toObjectStore: true, limit: 1, leaseSeconds: ObjectTransfer.leaseSeconds)
                        guard let move = moves.first else { return .idle }
                        do {
                            let outcome = try await transfer.perform(move, toObjectStore: true)
                            if case .moved(let byteCount) = outcome { metrics.moved(byteCount) }
                            backoff.reset()
                            return .more
                        } catch {
                            if error is CancellationError { throw error }
                            record(error, log)
                            return .pause(backoff.next(random: .random(in: 0..<1)))
                        }
                    }
                }
            }
        }
    }

    /// Counts and logs a failure. The attachment is claimed again later.
    private func record(_ error: any Error, _ log: RateLimitedLog) {
        metrics.moveFailures.add()
        if error as? ObjectStoreError == .damaged {
            log.error("the stored bytes of an attachment are damaged; it stays in PostgreSQL")
        } else {
            log.warning("moving an attachment to the object store failed; it is retried", reason: "\(error)")
        }
    }
}
