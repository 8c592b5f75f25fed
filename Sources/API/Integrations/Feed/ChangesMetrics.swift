// What readers of the changes feed cost, and how far its consumers are behind.
import Domain
import Store
import Telemetry

/// Counts the events that readers get, and holds the lag of the named consumers. From any thread.
package final class ChangesMetrics: Metrics {
    private let readers = Gauge(
        "parley_changes_readers", "Polls and streams of the changes feed (docs/changes.md) on this node.")
    let events = Counter("parley_changes_events_total", "Events that readers of the changes feed got.")
    let reads = Counter("parley_changes_reads_total", "Reads of the log for the changes feed.")
    private let lagEvents = LabelledGauge(
        "parley_changes_lag_events",
        "Events of the log that a named consumer has not acknowledged, by `consumer` (at most 100), those included that "
            + "integrations do not see. The same on all nodes, 10 s old at most.",
        by: "consumer")
    private let lagSeconds = LabelledGauge(
        "parley_changes_lag_seconds",
        "Age of the oldest event that a named consumer has not acknowledged, by `consumer`; 0 without one.",
        by: "consumer")
    /// Failed looks at the consumers' lag.
    package let failures = Counter()

    package init() {}

    /// Counts a reader, unless there are `countMax` already.
    func enter(countMax: Int) -> Bool {
        if readers.add(1) <= countMax { return true }
        readers.add(-1)
        return false
    }

    func leave() { readers.add(-1) }

    /// Replaces the lags that are shown.
    package func set(_ consumers: [Consumer]) {
        lagEvents.show { consumers.map { ($0.name, Double($0.lagEventCount)) } }
        lagSeconds.show { consumers.map { ($0.name, Double($0.lagMs) / 1_000) } }
    }
}
