// Publishes changes that concern many threads or many invited people.
import Logging
import Store
import Telemetry

/// Writes what a change left over: new profiles to all who share a thread, new titles to all who are invited. Runs on
/// every node. Each part locks its row and skips rows locked by others, so nodes share the work and finish what a dead
/// node started.
struct AnnouncementWorker: Sendable {
    /// Between looks whether there is something to publish. Costs an index probe.
    private static let interval = Duration.seconds(1)
    /// Between parts: a part holds the log's lock for some milliseconds, so that others write half of the time at least.
    private static let pause = Duration.milliseconds(10)

    let store: Store
    let metrics: AnnouncementMetrics
    let logger: Logger

    /// Runs until cancelled.
    func run() async throws {
        let upkeep = Upkeep(
            interval: Self.interval, complaint: "publishing a change failed; retrying in 2 s",
            failures: metrics.failures,
            logger: logger)
        try await upkeep.run {
            guard try await store.continueAnnouncement() else { return false }
            metrics.parts.add()
            try await Task.sleep(for: Self.pause)
            return true
        }
    }
}

/// What this node has published.
final class AnnouncementMetrics: Sendable {
    let parts = Counter()
    let failures = Counter()

    func write(to text: inout MetricsText) {
        text.counter(
            "parley_announcement_parts_total",
            "Parts of 200 events that this node wrote of profiles and titles that concern more people.", parts.value)
        text.counter("parley_announcement_failures_total", "Parts that failed and were retried.", failures.value)
    }
}
