// Handles the outbox in Parley's own database: messages and members that other programs wrote by SQL.
import Domain
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Runs on every node. One node works at a time, and each call is one transaction, so nodes share the work and finish
/// what a dead node started.
struct OutboxPump: Sendable {
    /// Rows of one call, which holds the log's lock for some milliseconds.
    private static let batchCount = 100

    let store: Store
    let limits: Limits
    let metrics: OutboxMetrics
    let logger: Logger

    /// Runs until cancelled. A message appears within one tick (250 ms) of its commit, sooner while others arrive.
    func run() async throws {
        let worker = Worker(
            "handling the outbox", retryAfter: .milliseconds(500), failures: metrics.failures, logger: logger)
        _ = try await worker.retry { try await store.configureOutbox(limits) }
        // Rows to handle one by one, because one of them makes a whole batch fail.
        var aloneCount = 0
        try await worker.run {
            let limit = aloneCount > 0 ? 1 : Self.batchCount
            do {
                let progress = try await store.pumpOutbox(limit: limit, limits: limits)
                metrics.record(progress, of: 0)
                metrics.setReachable(true, 0)
                aloneCount = max(0, aloneCount - max(1, progress.handledCount))
                return progress.handledCount > 0 ? .more : .idle
            } catch let problem as Problem where limit > 1 && problem.isOfTheData {
                aloneCount = Self.batchCount
                return .more
            } catch {
                metrics.setReachable(false, 0)
                throw error
            }
        }
    }
}

extension Problem {
    /// Whether a call failed because of what it was called with, and not because of the database's state.
    fileprivate var isOfTheData: Bool { code != .overloaded && code != .unavailable }
}

/// The outbox metrics of this node, by database: 0 is Parley's own, the others count from 1 in the order of the
/// setting.
final class OutboxMetrics: Sendable {
    let failures = Counter()
    private let handled: [Counter]
    private let failed: [Counter]
    private let reachable: Mutex<[Bool]>

    init(databaseCount: Int) {
        handled = (0...databaseCount).map { _ in Counter() }
        failed = (0...databaseCount).map { _ in Counter() }
        reachable = Mutex(Array(repeating: false, count: databaseCount + 1))
    }

    func record(_ progress: OutboxProgress, of database: Int) {
        handled[database].add(progress.handledCount)
        failed[database].add(progress.failedCount)
    }

    func setReachable(_ isReachable: Bool, _ database: Int) {
        reachable.withLock { $0[database] = isReachable }
    }

    func write(to text: inout MetricsText) {
        func rows(_ counters: [Counter]) -> [(labels: MetricsText.Labels, value: Int)] {
            counters.enumerated().map { ([("database", "\($0.offset)")], $0.element.value) }
        }
        text.counter(
            "parley_outbox_rows_total",
            "Rows of an outbox (docs/sql.md) that this node handled, by `database`: 0 is Parley's own, others count from 1 in "
                + "the order of `PARLEY_OUTBOX_URLS`.",
            rows(handled))
        text.counter(
            "parley_outbox_failed_rows_total", "Rows of an outbox that became failures, by `database`.", rows(failed))
        text.gauge(
            "parley_outbox_database_up", "1 if the last call to an outbox succeeded, by `database`.",
            reachable.withLock { $0 }.enumerated().map {
                (labels: [("database", "\($0.offset)")], value: $0.element ? 1 : 0)
            })
    }
}
