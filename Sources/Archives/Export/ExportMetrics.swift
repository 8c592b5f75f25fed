// The metrics of a node's exports.
import Telemetry

/// Counts the exports that a node writes. From any thread.
package final class ExportMetrics: Metrics {
    package enum Outcome: String, CaseIterable, Sendable {
        case complete
        /// The connection was closed before the line `end`.
        case cut
        /// The node was writing as many exports as it may.
        case refused
    }

    package let exports = LabelledCounters<Outcome>(
        "parley_exports_total",
        "Exports of archives (docs/import-export.md), by `outcome`: complete, cut (the connection was closed before the last "
            + "line), refused (this node was writing two).",
        by: "outcome")
    package let lineCount = Counter("parley_export_lines_total", "Lines of archives that clients received.")
    package let byteCount = Counter("parley_export_bytes_total", "Bytes of archives that clients received.")

    package init() {}
}
