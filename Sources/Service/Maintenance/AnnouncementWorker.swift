// Publishes changes that concern many threads or many invited people.
import Logging
import Store
import Telemetry
import Workers

/// Writes the events that a change left for later: new profiles for all who share a thread, new titles for all who are
/// invited. Runs on every node. Each part locks its row and skips rows locked by others, so nodes share the work and
/// finish what a dead node started.
struct AnnouncementWorker: Sendable {
    /// Between checks for something to publish. A check costs an index probe.
    private static let interval = Duration.seconds(1)
    /// Between parts: a part holds the log's lock for some milliseconds, so that others write half of the time at
    /// least.
    private static let pause = Duration.milliseconds(10)

    let store: Store
    let metrics = AnnouncementMetrics()
    let logger: Logger

    var component: Component {
        Component("announcements", failures: [metrics.failures], metrics: metrics.write, run: run)
    }

    /// Runs until cancelled.
    func run() async throws {
        let worker = Worker(
            "publishing a changed profile or title", every: Self.interval, failures: metrics.failures, logger: logger)
        try await worker.run {
            guard try await store.continueAnnouncement() else { return .idle }
            metrics.parts.add()
            return .pause(Self.pause)
        }
    }
}

final class AnnouncementMetrics: Metrics {
    let parts = Counter(
        "parley_announcement_parts_total",
        "Parts of 200 events that this node wrote for changed profiles and titles that concern many people.")
    let failures = Counter()
}
