// One entry in the list of a node's components.
import Telemetry

/// A component of a node: what it counts, and what runs for as long as the node does. A node lists its components once,
/// dependencies first. Running, metrics and failure counts all follow from that list.
package struct Component: Sendable {
    /// Letters only: it is the `worker` label of the component's failures.
    package let name: String
    /// Calls that failed and were retried. Empty for a component that can't fail.
    package let failures: [Counter]
    /// Appends what the component counts to `/metrics`.
    package let writeMetrics: @Sendable (inout MetricsText) -> Void
    /// Runs until cancelled. Nil for a component that only counts.
    package let run: (@Sendable () async throws -> Void)?

    package init(
        _ name: String, failures: [Counter] = [],
        metrics: @escaping @Sendable (inout MetricsText) -> Void = { _ in },
        run: (@Sendable () async throws -> Void)? = nil
    ) {
        self.name = name
        self.failures = failures
        writeMetrics = metrics
        self.run = run
    }

    /// A component that runs only where settings have it.
    package init<Value: Sendable>(
        _ name: String, of value: Value?, failures: [Counter] = [],
        metrics: @escaping @Sendable (inout MetricsText) -> Void = { _ in },
        run: @escaping @Sendable (Value) async throws -> Void
    ) {
        guard let value else {
            self.init(name, failures: failures, metrics: metrics)
            return
        }
        self.init(name, failures: failures, metrics: metrics, run: { try await run(value) })
    }
}

extension [Component] {
    /// Appends the metrics of all components, and the failures of each by its name.
    package func writeMetrics(to text: inout MetricsText) {
        for component in self { component.writeMetrics(&text) }
        let failing = filter { !$0.failures.isEmpty }
        text.counter(
            "parley_worker_failures_total",
            "Calls of background workers that failed and were retried (the log has the reasons), by `worker`: "
                + failing.map(\.name).sorted().joined(separator: ", ") + ".",
            failing.map { component in
                let labels: MetricsText.Labels = [("worker", component.name)]
                return (labels: labels, value: component.failures.reduce(0) { $0 + $1.value })
            })
    }
}
