// A number that only grows.
import Synchronization

/// Counts. Any thread may add; each addition costs a few nanoseconds. After the largest number it continues from the
/// smallest, which Prometheus treats as a restart. A sum of nanoseconds gets there when 10,000 polls wait for eleven
/// days.
package final class Counter: Metric {
    private let count = Atomic(0)
    private let name: MetricName?
    /// How many counted units make one displayed unit.
    private let unit: Int

    /// A counter that is shown together with others.
    package init() { (name, unit) = (nil, 1) }

    package init(_ name: StaticString, _ help: String, unit: Int = 1) {
        self.name = MetricName(name, help)
        self.unit = unit
    }

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }

    package func write(to text: inout MetricsText) {
        guard let name else { return }
        if unit == 1 {
            text.counter(name.name, name.help, value)
        } else {
            text.counter(name.name, name.help, Double(value) / Double(unit))
        }
    }
}
