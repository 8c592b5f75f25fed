// How long to wait before the next try. What is tried lives with the caller.

/// Doubles from `first` to `cap`; the jitter comes after the cap, or all clients would converge on the cap.
struct Backoff: Sendable {
    var first: Duration = .milliseconds(100)
    var cap: Duration = .seconds(2)
    private(set) var failureCount = 0

    /// The wait after one more failure: between half and the whole of the capped delay.
    /// - Parameter random: from 0 up to 1, the caller's, so that tests own the dice.
    mutating func next(random: Double) -> Duration {
        let delay = min(cap, first * (1 << min(failureCount, 20)))
        failureCount += 1
        return delay * (0.5 + random / 2)
    }

    mutating func reset() { failureCount = 0 }
}
