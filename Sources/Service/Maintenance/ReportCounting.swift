// Counts what waits for moderators, for /metrics: open reports and pending reviews.
import Logging
import Store
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
            metrics.open.set(try await store.openReportCount(countMax: Self.countMax))
            metrics.pendingReviews.set(try await store.pendingReviewCount(countMax: Self.countMax))
            return .idle
        }
    }
}

final class ReportMetrics: Metrics {
    let open = Gauge(
        "parley_reports_open", "Open reports in the moderation queue, on all nodes. Counted once a minute.")
    let pendingReviews = Gauge(
        "parley_reviews_pending",
        "Messages and edits that the policy sent to review and that wait for a moderator, on all "
            + "nodes. Counted once a minute.")
    let failures = Counter()
}
