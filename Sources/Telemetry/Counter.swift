// A figure that only grows.
import Synchronization

/// Counts. Any thread may add; a few nanoseconds each. Past the largest number it goes on from the smallest, which
/// Prometheus takes for a restart: a sum of nanoseconds gets there when 10,000 wait at once for eleven days.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
