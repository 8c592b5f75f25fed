// The metrics of a node's exports.
import Telemetry

/// Counts the exports that a node writes. From any thread.
package final class ExportMetrics: Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        case complete
        /// The connection was closed before the line `end`.
        case cut
        /// The node was writing as many exports as it may.
        case refused
    }

    package let exports = LabelledCounters<Outcome>()
    package let lineCount = Counter()
    package let byteCount = Counter()

    package init() {}

    package func write(to text: inout MetricsText) {
        text.counter("parley_exports_total", "Exports, by outcome.", exports.samples("outcome"))
        text.counter("parley_export_lines_total", "Lines of exports that clients received.", lineCount.value)
        text.counter("parley_export_bytes_total", "Bytes of exports that clients received.", byteCount.value)
    }
}
