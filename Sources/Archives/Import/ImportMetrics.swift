// Counts the imports of a node.
import Telemetry

/// From any thread.
package final class ImportMetrics: Sendable {
    /// How an import ended.
    package enum Outcome: String, CaseIterable, Sendable {
        case applied
        case dryRun = "dry_run"
        /// A line is wrong.
        case refused
        /// The archive broke off, or the node or its database failed.
        case failed
    }

    package let ended = LabelledCounters<Outcome>()
    /// Lines that were staged.
    package let lines = Counter()
    package let milliseconds = Counter()
    /// Abandoned imports that this node dropped.
    package let swept = Counter()
    package let failures = Counter()

    package init() {}

    package func write(to text: inout MetricsText) {
        text.counter("parley_imports_total", "Imports that ended, by outcome.", ended.samples("outcome"))
        text.counter("parley_import_lines_total", "Lines of archives that imports have staged.", lines.value)
        text.counter(
            "parley_import_seconds_total", "Time from the beginning to the end of imports, all together.",
            Double(milliseconds.value) / 1_000)
        text.counter("parley_imports_swept_total", "Abandoned imports that this node dropped.", swept.value)
    }
}

extension ImportMetrics {
    /// Counts an import that has ended.
    package func record(_ outcome: Outcome, after time: Duration) {
        ended.add(outcome)
        milliseconds.add(Int(time / .milliseconds(1)))
    }
}
