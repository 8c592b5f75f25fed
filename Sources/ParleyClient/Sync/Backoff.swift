// How long to wait after a failure.

/// After failure n: between half and all of 2ⁿ s, at most 60 s. A server that names a time is believed.
struct Backoff: Sendable {
    private var failures = 0

    mutating func succeeded() { failures = 0 }

    /// Counts a failure and returns the wait before the next try.
    mutating func failed(_ error: ParleyError) -> Duration {
        let limit = min(60, Double(1 << min(failures, 6)))
        failures += 1
        if case .refused(let problem) = error, let wait = problem.retryAfter {
            // Many clients get the same answer: they must not return at the same moment.
            return wait + .milliseconds(Int.random(in: 0...1000))
        }
        return .milliseconds(Int(Double.random(in: limit / 2...limit) * 1000))
    }
}
