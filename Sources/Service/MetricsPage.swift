// The text of a node's /metrics.
import ServiceConfiguration
import Telemetry
import Workers

/// The node's metrics, each written by the component that counts it.
struct MetricsPage: Sendable {
    let components: [Component]

    /// Reads /proc, among others: may block for milliseconds.
    func text() -> MetricsText {
        var text = MetricsText()
        text.gauge("parley_build_info", "The running version.", [([("version", Invocation.version)], 1)])
        components.writeMetrics(to: &text)
        ProcessMetrics.read()?.write(to: &text)
        return text
    }
}
