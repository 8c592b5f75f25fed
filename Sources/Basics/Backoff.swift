// Exponential back-off. The caller decides what it retries and how random the delay is.

/// Delays that double from `first` up to `cap`.
package struct Backoff: Sendable {
    package var first: Duration
    package var cap: Duration
    package private(set) var failureCount = 0

    package init(first: Duration = .milliseconds(100), cap: Duration = .seconds(2)) {
        self.first = first
        self.cap = cap
    }

    /// Counts one more failure and returns the wait before the next try: between half and the whole of the capped
    /// delay. The jitter comes after the cap; otherwise all clients would converge on the cap.
    /// - Parameter random: from 0 up to 1. The caller passes it, so that tests are repeatable.
    package mutating func next(random: Double) -> Duration {
        let delay = Self.delay(first: first, cap: cap, doublings: failureCount)
        failureCount += 1
        return delay * (0.5 + random / 2)
    }

    package mutating func reset() { failureCount = 0 }

    /// Returns `first`, doubled `doublings` times, at most `cap`: for callers that keep the number of failures
    /// elsewhere.
    package static func delay(first: Duration, cap: Duration, doublings: Int) -> Duration {
        min(cap, first * (1 << min(max(0, doublings), 20)))
    }
}
