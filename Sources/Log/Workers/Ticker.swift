// The beat that the node's timers keep together.

/// Sleeps that end at the same moments. Waking a processor that idles, and a thread of the pool, costs a hundred times what
/// most timers here have to do; so those that look now and then whether there is something to do look all at once.
package enum Ticker {
    /// The shortest; the others are multiples of it.
    package static let interval = Duration.milliseconds(250)
    private static let start = ContinuousClock.now

    /// Sleeps to the next whole multiple of `interval` since the process's first beat. Throws when cancelled.
    package static func sleep(_ interval: Duration = interval) async throws {
        try await Task.sleep(until: next(interval), clock: .continuous)
    }

    static func next(_ interval: Duration) -> ContinuousClock.Instant { start + end(of: interval, after: .now - start) }

    /// The first multiple of `interval` after so much time.
    static func end(of interval: Duration, after time: Duration) -> Duration {
        interval * Int((time / interval).rounded(.down) + 1)
    }
}
