// Counts what waits for moderators, for /metrics: open reports and pending reviews.
import Logging
import Store
import Synchronization
import Telemetry
import Workers

/// Runs on every node. All nodes show the same number.
struct ReportCounting: Sendable {
    private static let interval = Duration.seconds(60)
    /// A queue that is longer is shown as this long.
    private static let countMax = 100_000

    let store: Store
    let metrics = ReportMetrics()
    let logger: Logger

    var component: Component {
        Component("reportCounting", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker("counting reports", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            metrics.set(openCount: try await store.openReportCount(countMax: Self.countMax))
            metrics.set(pendingReviewCount: try await store.pendingReviewCount(countMax: Self.countMax))
            return .idle
        }
    }
}

final class ReportMetrics: Sendable {
    let failures = Counter()
    private let openCount = Atomic(0)
    private let pendingReviewCount = Atomic(0)

    func set(openCount count: Int) { openCount.store(count, ordering: .relaxed) }

    func set(pendingReviewCount count: Int) { pendingReviewCount.store(count, ordering: .relaxed) }

    func write(to text: inout MetricsText) {
        text.gauge(
            "parley_reports_open", "Open reports in the moderation queue; counted once a minute.",
            openCount.load(ordering: .relaxed))
        text.gauge(
            "parley_reviews_pending", "Messages and edits that wait for a moderator's review; counted once a minute.",
            pendingReviewCount.load(ordering: .relaxed))
    }
}
