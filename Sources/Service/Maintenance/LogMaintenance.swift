// What a node does now and then for all.
import Domain
import Log
import Logging
import Store
import Telemetry

/// Keeps partitions of the log ahead of its head, drops those that are too old, notes when sessions were last used, and
/// forgets what limits need no more. Any number of nodes may.
struct LogMaintenance: Sendable {
    let store: Store
    let trimmer: LogTrimmer
    let sessions: SessionCache
    let metrics: LogMaintenanceMetrics
    let days: Int
    /// Where the log has come to.
    let head: @Sendable () -> Position
    let logger: Logger

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await extend() }
            group.addTask { try await repeating(every: .seconds(600), waitingFirst: false, trim) }
            group.addTask {
                try await repeating(every: .seconds(30)) { try await sessions.flush() }
            }
            group.addTask {
                try await repeating(every: .seconds(60)) {
                    let limit = 10_000
                    while try await store.sweepRateLimits(limit: limit) == limit {}
                    while try await store.sweepSignIns(limit: limit) == limit {}
                }
            }
        }
    }

    /// Partitions are made when the log reaches a certain position. Looked at often: in a surge it is there in seconds, and
    /// then there is room for some more.
    private func extend() async throws {
        var next = Position.start
        try await repeating(every: .seconds(1)) {
            guard head() >= next else { return }
            let extended = try await store.extendLog(days: days)
            next = extended.next
            if extended.madeCount > 0 {
                metrics.made.add(extended.madeCount)
                logger.info("partitions of the log made", metadata: ["count": "\(extended.madeCount)"])
            }
        }
    }

    private func trim() async throws {
        let count = try await trimmer.trim()
        guard count > 0 else { return }
        metrics.dropped.add(count)
        logger.info("partitions of the log dropped", metadata: ["count": "\(count)"])
    }

    private func repeating(
        every interval: Duration, waitingFirst: Bool = true, _ body: () async throws -> Void
    ) async throws {
        if waitingFirst { try await Task.sleep(for: interval) }
        while true {
            do {
                try await body()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                logger.warning("upkeep has to wait", metadata: ["reason": "\(error)"])
                try await Task.sleep(for: .seconds(2))
            }
            try await Task.sleep(for: interval)
        }
    }
}

/// Partitions of the log, by this node.
final class LogMaintenanceMetrics: Sendable {
    let made = Counter()
    let dropped = Counter()
}
