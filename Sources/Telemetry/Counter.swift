// A number that only grows.
import Synchronization

/// Counts. Any thread may add; each addition costs a few nanoseconds. After the largest number it continues from the
/// smallest, which Prometheus treats as a restart. A sum of nanoseconds gets there when 10,000 polls wait for eleven
/// days.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
