// Moves ready attachments from PostgreSQL to the object store.
import Basics
import Domain
import Logging
import ObjectStore
import Store
import Telemetry
import Workers

/// Runs on every node that has an object store. A claim is a lease, so that another node moves the attachments of a
/// dead one. While the store is down, attachments stay in PostgreSQL, and clients notice nothing.
struct ObjectMover: Sendable {
    /// Attachments under way at once. After a failure there is a pause, and then one shows whether the store works.
    private static let moverCount = 2
    /// Between checks for attachments to move. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    let transfer: ObjectTransfer
    let metrics: ObjectMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async {
        let log = RateLimitedLog(logger)
        let worker = Worker("claiming attachments to move", failures: metrics.moveFailures, logger: logger)
        var rules = Pace.Rules()
        rules.windowMax = Self.moverCount
        rules.longestPause = Self.longestPause
        let loop = DeliveryLoop(
            DeliveryQueue<AttachmentMove>(pace: Pace(rules), now: .now), claiming: worker, recording: worker,
            every: Self.interval, clock: .system)
        await loop.run(
            send: .each { move in
                do {
                    let outcome = try await transfer.perform(move, toObjectStore: true)
                    if case .moved(let byteCount) = outcome { metrics.moved(byteCount) }
                    loop.update { $0.pace.accepted(now: .now) }
                } catch {
                    if !(error is CancellationError) {
                        record(error, log)
                        loop.update { $0.pace.failed(now: .now) }
                    }
                }
                // A transfer records its outcome itself.
                loop.answer(move.key, nil)
                loop.wake()
            },
            claim: { limit in
                let moves = try await transfer.store.claimMoves(
                    toObjectStore: true, limit: limit, leaseSeconds: ObjectTransfer.leaseSeconds)
                loop.update { queue in for move in moves { queue.add(move) } }
            },
            // Its task's cancellation ends a transfer.
            settle: { _ in }, close: {})
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

extension AttachmentMove: Deliverable {
    /// Nothing is recorded of a move but by the move itself.
    package typealias Outcome = Never

    package var key: AttachmentID { attachment }
}
