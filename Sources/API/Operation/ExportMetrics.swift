// The metrics of a node's exports.
import Telemetry

/// Counts the exports that a node writes. From any thread.
package final class ExportMetrics: Sendable {
    let complete = Counter()
    let broken = Counter()
    let byteCount = Counter()

    package init() {}

    package func write(to text: inout MetricsText) {
        text.counter("parley_exports_total", "Exports that were written to their end.", complete.value)
        text.counter("parley_exports_broken_total", "Exports that were cut off.", broken.value)
        text.counter("parley_export_bytes_total", "Bytes of exports that clients received.", byteCount.value)
    }
}
