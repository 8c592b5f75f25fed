// Metrics are declared once, where they are counted. `/metrics`, docs/metrics.md and the dashboard follow from that.

/// A metric that knows its name and help text. It writes nothing if it was made without a name.
package protocol Metric: Sendable {
    func write(to text: inout MetricsText)
}

/// What a component counts: those of its stored properties that are metrics, in their order.
package protocol Metrics: Sendable {}

extension Metrics {
    package func write(to text: inout MetricsText) {
        for property in Mirror(reflecting: self).children { (property.value as? any Metric)?.write(to: &text) }
    }
}

/// The name of a metric, and its meaning in Markdown. The text explains every label, named in backticks.
final class MetricName: Sendable {
    let name: StaticString
    let help: String

    init(_ name: StaticString, _ help: String) {
        self.name = name
        self.help = help
    }
}
