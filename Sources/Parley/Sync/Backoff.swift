// How long to wait after a failure.

/// The client guide's rule (Waits after a failure): a random time up to 2 s after the first failure, between 2 and 4 s after
/// each further one. `Retry-After` counts for half of the 4 s at most, and in full with 429. So the client is back within
/// 5 s after a node serves again, however long the node was down.
///
/// An app that nobody looks at suspends its client. So the SDK has only the wait of clients that somebody looks at.
struct Backoff: Sendable {
    /// The longest wait, but for 429. The answer after it must arrive within the remaining second.
    static let longest = Duration.seconds(4)
    /// The longest wait after the first failure, and the spread after a 429.
    static let first = Duration.seconds(2)

    private var failures = 0

    mutating func succeeded() { failures = 0 }

    /// Counts a failure and returns the wait before the next try. `random` is 0 to 1.
    mutating func failed(_ error: ParleyError, random: Double = .random(in: 0..<1)) -> Duration {
        failures += 1
        let range = range(after: error)
        return range.lowerBound + (range.upperBound - range.lowerBound) * random
    }

    private func range(after error: ParleyError) -> ClosedRange<Duration> {
        if let problem = error.problem, let asked = problem.retryAfter, asked > .zero {
            return problem.status == 429
                ? asked...asked + Self.first : min(asked, Self.longest / 2)...Self.longest
        }
        return failures == 1 ? .zero...Self.first : Self.longest / 2...Self.longest
    }
}
