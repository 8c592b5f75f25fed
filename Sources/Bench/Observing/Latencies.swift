// Distributions of times, and how they get from an event loop to the thread that prints.
import Domain
import Histogram
import Synchronization

/// A histogram with three significant digits from 1 µs to 120 s.
package struct Latencies: Sendable {
    private var histogram = Histogram<UInt64>(
        lowestDiscernibleValue: 1_000, highestTrackableValue: longestNs, numberOfSignificantValueDigits: .three)
    private static let longestNs: UInt64 = 120_000_000_000

    package init() {}

    /// Longer times count as 120 s. 20 ns.
    package mutating func record(nanoseconds: Int64) {
        _ = histogram.record(min(UInt64(max(0, nanoseconds)), Self.longestNs))
    }

    package mutating func add(_ other: Latencies) { histogram.add(other.histogram) }
    package mutating func reset() { histogram.reset() }

    package var count: Int { Int(histogram.totalCount) }

    /// Milliseconds at a percentile from 0 to 100; nil when nothing was recorded.
    package func ms(_ percentile: Double) -> Double? {
        count == 0 ? nil : Double(histogram.valueAtPercentile(percentile)) / 1e6
    }

    package var maxMs: Double? { count == 0 ? nil : Double(histogram.max) / 1e6 }

    /// The usual percentiles in milliseconds.
    var summary: JSONValue {
        .object([
            .init("p50", .decimal(orNull: ms(50), 3)), .init("p90", .decimal(orNull: ms(90), 3)),
            .init("p99", .decimal(orNull: ms(99), 3)), .init("p99.9", .decimal(orNull: ms(99.9), 3)),
            .init("max", .decimal(orNull: maxMs, 3)),
        ])
    }
}

/// Records times on an event loop, for the thread that prints: the times of the last second, and the measured times.
final class Meter: Sendable {
    private struct State {
        var recent = Latencies()
        var measured = Latencies()
    }

    private let state = Mutex(State())

    /// - Parameter isMeasured: false during the warm-up.
    func record(nanoseconds: Int64, isMeasured: Bool) {
        state.withLock { state in
            state.recent.record(nanoseconds: nanoseconds)
            if isMeasured { state.measured.record(nanoseconds: nanoseconds) }
        }
    }

    /// Adds the times since the last call.
    func takeRecent(into sum: inout Latencies) {
        state.withLock { state in
            sum.add(state.recent)
            state.recent.reset()
        }
    }

    var measured: Latencies { state.withLock { $0.measured } }
}
