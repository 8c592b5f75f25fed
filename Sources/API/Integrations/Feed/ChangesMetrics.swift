// What readers of the changes feed cost, and how far its consumers are behind.
import Domain
import Store
import Synchronization
import Telemetry

/// Counts the events that readers get, and holds the lag of the named consumers. From any thread.
package final class ChangesMetrics: Sendable {
    let events = Counter()
    let reads = Counter()
    /// Failed looks at the consumers' lag.
    package let failures = Counter()
    private let readerCount = Mutex(0)
    private let lags = Mutex<[Consumer]>([])

    package init() {}

    /// Counts a reader, unless there are `countMax` already.
    func enter(countMax: Int) -> Bool {
        readerCount.withLock { count in
            guard count < countMax else { return false }
            count += 1
            return true
        }
    }

    func leave() { readerCount.withLock { $0 -= 1 } }

    /// Replaces the lags that are shown.
    package func set(_ consumers: [Consumer]) { lags.withLock { $0 = consumers } }

    package func write(to text: inout MetricsText) {
        text.gauge(
            "parley_changes_readers", "Polls and streams of the changes feed on this node.",
            readerCount.withLock { $0 })
        text.counter("parley_changes_events_total", "Events that readers of the changes feed got.", events.value)
        text.counter("parley_changes_reads_total", "Reads of the log for the changes feed.", reads.value)
        let lags = lags.withLock { $0 }
        func samples(_ value: (Consumer) -> Double) -> [(labels: MetricsText.Labels, value: Double)] {
            lags.map { consumer in
                let labels: MetricsText.Labels = [("consumer", consumer.name)]
                return (labels: labels, value: value(consumer))
            }
        }
        text.gauge(
            "parley_changes_lag_events",
            "Events of the log that a named consumer has not acknowledged, those included that integrations do not "
                + "see. All nodes show the same.",
            samples { Double($0.lagEventCount) })
        text.gauge(
            "parley_changes_lag_seconds",
            "Age of the oldest event that a named consumer has not acknowledged; 0 without one.",
            samples { Double($0.lagMs) / 1000 })
    }
}
