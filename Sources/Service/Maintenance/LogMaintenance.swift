// The recurring work on the log's tables, which every node does for all.
import Domain
import Log
import Logging
import Store
import Telemetry
import Workers

/// Keeps partitions of the log ahead of its head, drops those that are too old, records when sessions and admin keys were
/// last used, and deletes rate limits, sign-in attempts, mailed codes and kept answers that no longer matter. Runs on
/// every node.
struct LogMaintenance: Sendable {
    private static let trimInterval = Duration.seconds(600)
    private static let flushInterval = Duration.seconds(30)
    /// Keys are few, and operators look when one was last used.
    private static let keyFlushInterval = Duration.seconds(5)
    private static let sweepInterval = Duration.seconds(60)
    /// Rows of one call.
    private static let sweepLimit = 10_000

    private let store: Store
    private let trimmer: LogTrimmer
    private let sessions: SessionCache
    private let adminKeys: AdminKeyCache
    private let metrics = LogMaintenanceMetrics()
    private let days: Int
    /// Returns the log's head, as this node knows it.
    private let head: @Sendable () -> Position
    private let logger: Logger

    init(_ node: NodeCore) {
        (store, sessions, head, logger) = (node.store, node.log.sessions, node.head, node.logger)
        adminKeys = node.log.adminKeys
        days = node.settings.logDays
        trimmer = LogTrimmer(node.database.listenSettings, days: days, logger: logger)
    }

    var component: Component {
        Component("logMaintenance", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await extend() }
            group.addTask {
                try await worker("dropping old partitions of the log", every: Self.trimInterval).run {
                    try await trim()
                    return .idle
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.flushInterval)
                try await worker("recording the last use of sessions", every: Self.flushInterval).run {
                    try await sessions.flush()
                    return .idle
                }
            }
            group.addTask {
                try await worker("recording the last use of admin keys", every: Self.keyFlushInterval).run {
                    try await adminKeys.flush()
                    return .idle
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.sweepInterval)
                try await worker("deleting expired limits, invitations and codes", every: Self.sweepInterval).run {
                    let limit = Self.sweepLimit
                    while try await store.sweepRateLimits(limit: limit) == limit {}
                    while try await store.sweepSignIns(limit: limit) == limit {}
                    while try await store.sweepInvitations(limit: limit) == limit {}
                    while try await store.sweepResets(limit: limit) == limit {}
                    // Tries of codes leave rows on nodes without mail, too.
                    while try await store.sweepMail(limit: limit) == limit {}
                    while try await store.sweepEmailWishes(limit: limit) == limit {}
                    while try await store.sweepIdempotencyKeys(limit: limit) == limit {}
                    return .idle
                }
            }
        }
    }

    private func worker(_ operation: String, every interval: Duration, retryAfter: Duration? = nil) -> Worker {
        Worker(
            operation, every: interval, retryAfter: retryAfter ?? interval, failures: metrics.failures, logger: logger)
    }

    /// Partitions are made when the log reaches a certain position. The log is checked each second: in a surge it
    /// reaches that position within seconds, and there is room for some more.
    private func extend() async throws {
        var next = Position.start
        try await worker("making partitions of the log", every: .seconds(1), retryAfter: .seconds(2)).run {
            guard head() >= next else { return .idle }
            let extended = try await store.extendLog(days: days)
            next = extended.next
            if extended.madeCount > 0 {
                metrics.made.add(extended.madeCount)
                logger.info("created partitions of the log", metadata: ["count": "\(extended.madeCount)"])
            }
            return .idle
        }
    }

    private func trim() async throws {
        let count = try await trimmer.trim()
        guard count > 0 else { return }
        metrics.dropped.add(count)
        logger.info("partitions of the log dropped", metadata: ["count": "\(count)"])
    }
}

final class LogMaintenanceMetrics: Metrics {
    let made = Counter("parley_log_partitions_made_total", "Partitions of the log that this node created.")
    let dropped = Counter("parley_log_partitions_dropped_total", "Partitions of the log that this node removed.")
    let failures = Counter()
}
