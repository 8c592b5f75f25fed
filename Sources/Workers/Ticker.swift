// The clock tick that the node's timers share.

/// Sleeps that end at the same moments. Waking an idle processor and a thread of the pool costs a hundred times what
/// most timers do when they wake. So all timers that look for work wake together.
package enum Ticker {
    /// The shortest interval. All others are multiples of it.
    package static let interval = Duration.milliseconds(250)
    private static let start = ContinuousClock.now

    /// Sleeps to the next whole multiple of `interval` since the process's first tick. Throws when cancelled.
    package static func sleep(_ interval: Duration = interval) async throws {
        try await Task.sleep(until: next(interval), clock: .continuous)
    }

    package static func next(_ interval: Duration) -> ContinuousClock.Instant {
        start + end(of: interval, after: .now - start)
    }

    /// Returns the first multiple of `interval` after `time`.
    static func end(of interval: Duration, after time: Duration) -> Duration {
        interval * Int((time / interval).rounded(.down) + 1)
    }
}
