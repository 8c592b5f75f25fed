// A figure that only grows.
import Synchronization

/// Counts. Any thread may add; a few nanoseconds each. Past the largest number it begins anew at the smallest, which who
/// reads it takes for a restart: nanoseconds that many wait at once add up to centuries.
package final class Counter: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }
}
