// Progress on standard error, one line a second.
import Linux
import Synchronization

/// The phases of a run on one clock: warm-up, then measuring, for a time or up to a count.
struct Phases: Sendable {
    let start: MonotonicTime
    let measureFrom: MonotonicTime
    private let endMax: MonotonicTime
    private let goal: Goal?

    /// Begins now.
    init(warmUpSeconds: Int, seconds: Int) {
        start = .now
        measureFrom = start + Double(warmUpSeconds)
        endMax = measureFrom + Double(seconds)
        goal = nil
    }

    /// Begins now, and ends when `countMeasured` was called `count` times. Gives up a minute after the time for 1,000 a
    /// second.
    init(warmUpSeconds: Int, count: Int) {
        start = .now
        measureFrom = start + Double(warmUpSeconds)
        endMax = measureFrom + Double(count / 1000 + 60)
        goal = Goal(count)
    }

    /// The end, or the latest possible end until the count is reached.
    var end: MonotonicTime { goal?.reachedAt ?? endMax }

    /// Valid once the run has ended.
    var measuredSeconds: Double { Double(end - measureFrom) / 1e9 }

    func isMeasured(_ moment: MonotonicTime) -> Bool { moment >= measureFrom && moment < end }

    func countMeasured(_ moment: MonotonicTime) { goal?.count(moment) }

    func waitForEnd() async throws {
        while MonotonicTime.now < end {
            // A goal does not report that it is reached.
            try await Progress.sleep(until: goal == nil ? end : min(.now + 0.01, end))
        }
    }

    /// A count to reach, by all event loops together.
    private final class Goal: Sendable {
        private let left: Atomic<Int>
        /// Nanoseconds; 0 until the goal is reached.
        private let reached = Atomic<Int64>(0)

        init(_ count: Int) { left = Atomic(count) }

        func count(_ moment: MonotonicTime) {
            if left.subtract(1, ordering: .relaxed).newValue == 0 {
                reached.store(moment.nanoseconds, ordering: .relaxed)
            }
        }

        var reachedAt: MonotonicTime? {
            let nanoseconds = reached.load(ordering: .relaxed)
            return nanoseconds == 0 ? nil : MonotonicTime(nanoseconds: nanoseconds)
        }
    }
}

enum Progress {
    static func report(_ text: String) { StandardError.write(text + "\n") }

    /// Prints the rate and the p99 of the last second until the end of the run. Throws only `CancellationError`.
    /// - Parameter what: "messages".
    static func show(_ what: String, _ meters: [Meter], _ phases: Phases) async throws {
        while MonotonicTime.now < phases.end {
            let from = MonotonicTime.now
            try await sleep(until: min(from + 1, phases.end))
            let now = MonotonicTime.now
            var recent = Latencies()
            for meter in meters { meter.takeRecent(into: &recent) }
            let rate = Double(recent.count) * 1e9 / Double(now - from)
            let p99 = recent.ms(99).map { fixed($0, 2) + " ms" } ?? "none"
            let note = now <= phases.measureFrom ? " (warming up)" : ""
            report("\(fixed(Double(now - phases.start) / 1e9, 0)) s: \(fixed(rate, 0)) \(what)/s, p99 \(p99)\(note)")
        }
    }

    static func sleep(until moment: MonotonicTime) async throws {
        try await Task.sleep(for: .nanoseconds(max(0, moment - .now)))
    }
}

/// Calls `isSo` every 50 ms until it returns true.
/// - Throws: `BenchFailure` naming `what` after `seconds`.
func poll(_ what: String, within seconds: Double, _ isSo: () async throws -> Bool) async throws {
    let deadline = MonotonicTime.now + seconds
    while try await !isSo() {
        guard MonotonicTime.now < deadline else {
            throw BenchFailure("timed out after \(fixed(seconds, 0)) s: \(what)")
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}
