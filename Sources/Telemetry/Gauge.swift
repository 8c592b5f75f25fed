// Numbers that grow and shrink.
import Synchronization

/// A number of now. From any thread.
package final class Gauge: Metric {
    private let number = Atomic(0)
    private let name: MetricName

    package init(_ name: StaticString, _ help: String) { self.name = MetricName(name, help) }

    package var value: Int { number.load(ordering: .relaxed) }

    package func set(_ value: Int) { number.store(value, ordering: .relaxed) }

    /// Returns the new value.
    @discardableResult
    package func add(_ change: Int) -> Int { number.wrappingAdd(change, ordering: .relaxed).newValue }

    package func write(to text: inout MetricsText) { text.gauge(name.name, name.help, value) }
}

/// Numbers by the values of a label that change as the node runs. They are read when the page is written.
package final class LabelledGauge: Metric {
    package typealias Reading = @Sendable () -> [(label: String, value: Double)]

    private let name: MetricName
    private let label: StaticString
    private let reading = Mutex<Reading>({ [] })

    package init(_ name: StaticString, _ help: String, by label: StaticString) {
        self.name = MetricName(name, help)
        self.label = label
    }

    /// Shows what `read` returns from now on.
    package func show(_ read: @escaping Reading) { reading.withLock { $0 = read } }

    package func write(to text: inout MetricsText) {
        let read = reading.withLock { $0 }
        text.gauge(name.name, name.help, read().map { ([(label, $0.label)], $0.value) })
    }
}
