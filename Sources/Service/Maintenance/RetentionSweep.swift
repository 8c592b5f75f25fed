// Withdraws content whose retention has expired.
import Domain
import Logging
import Store
import Telemetry
import Workers

/// Runs on every node. Each call locks its rows and skips rows locked by others, so nodes share the work and finish
/// what a dead node started.
struct RetentionSweep: Sendable {
    /// Messages or threads of one call, during which the threads concerned accept no messages.
    private static let passLimit = 100
    /// Between checks for expired content, and so the delay of its withdrawal. A check costs two index probes.
    private static let interval = Duration.seconds(1)
    /// Threads of a part of the walk: 2 ms of a connection. A million threads take half an hour.
    private static let threadLimit = 500
    /// Verdicts are kept for days, so their sweep is in no hurry.
    private static let verdictInterval = Duration.seconds(60)
    private static let verdictLimit = 500

    let store: Store
    let silentDays: Int
    /// The longest retention of the service. 0: any.
    let maxS: Int
    let metrics = RetentionMetrics()
    let logger: Logger

    var component: Component {
        Component("retentionSweep", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await withdraw() }
            if maxS > 0 { group.addTask { try await limit() } }
            group.addTask { try await forgetVerdicts() }
        }
    }

    /// Walks through all threads, one part at a time, again and again.
    private func limit() async throws {
        var last: ThreadID?
        let worker = Worker(
            "withdrawing content that is too old", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            let part = try await store.limitRetention(after: last, limit: Self.threadLimit, maxS: maxS)
            last = part.next
            metrics.looked.add(part.lookedCount)
            return part.lookedCount > 0 ? .more : .idle
        }
    }

    /// Deletes verdicts of the policy that are no longer needed.
    private func forgetVerdicts() async throws {
        let worker = Worker(
            "deleting old verdicts of the policy", every: Self.verdictInterval, failures: metrics.failures,
            logger: logger)
        try await worker.run {
            try await store.sweepVerdicts(limit: Self.verdictLimit) < Self.verdictLimit ? .idle : .more
        }
    }

    private func withdraw() async throws {
        var deliveredFirst = false
        let worker = Worker(
            "withdrawing expired content", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            let count = try await store.sweepRetention(
                limit: Self.passLimit, silentDays: silentDays, deliveredFirst: deliveredFirst)
            metrics.looked.add(count)
            // The two kinds take turns, so that many of one kind don't delay the other.
            deliveredFirst.toggle()
            return count > 0 ? .more : .idle
        }
    }
}

final class RetentionMetrics: Metrics {
    let looked = Counter(
        "parley_retention_looks_total",
        "Expired messages, and threads that this node checked for content that all devices have.")
    let failures = Counter()
}
