// Counts the imports of a node.
import Telemetry

/// From any thread.
package final class ImportMetrics: Metrics {
    /// How an import ended.
    package enum Outcome: String, CaseIterable, Sendable {
        case applied
        case dryRun = "dry_run"
        /// A line is wrong.
        case refused
        /// The archive broke off, or the node or its database failed.
        case failed
    }

    package let ended = LabelledCounters<Outcome>(
        "parley_imports_total",
        "Imports by `POST /v1/admin/import` that ended, by `outcome`: applied, dry_run, refused (a wrong line), failed "
            + "(docs/import-export.md).",
        by: "outcome")
    package let lines = Counter("parley_import_lines_total", "Lines of archives that imports have staged.")
    package let milliseconds = Counter(
        "parley_import_seconds_total", "Time from the beginning to the end of imports, all together.", unit: 1_000)
    package let swept = Counter("parley_imports_swept_total", "Abandoned imports that this node dropped.")
    package let failures = Counter()

    package init() {}
}

extension ImportMetrics {
    /// Counts an import that has ended.
    package func record(_ outcome: Outcome, after time: Duration) {
        ended.add(outcome)
        milliseconds.add(Int(time / .milliseconds(1)))
    }
}
