// How fast a receiver gets requests, and when a failed one is repeated. Decisions only; time and chance are parameters.

/// Bounds the requests under way to one receiver. A receiver that fails, or asks for less, gets a pause, then one request
/// at a time until it accepts one. Each pause in a row is twice as long.
package struct Pace: Sendable {
    package typealias Instant = ContinuousClock.Instant

    package struct Rules: Sendable {
        /// Requests under way at once.
        package var windowMax = Int.max
        /// Failures in a row that begin a pause. Fewer may be chance.
        package var failureCountMin = 1
        package var firstPause = Duration.seconds(1)
        package var longestPause = Duration.seconds(60)
        /// The longest pause that the receiver can ask for.
        package var longestAsked = Duration.seconds(3_600)
        /// Whether each acceptance after a pause doubles the bound, and one during a pause says nothing, because its
        /// request had begun before. Otherwise an acceptance ends the pause and the bound.
        package var isGradual = false

        package init() {}
    }

    package let rules: Rules
    /// How many requests may be under way.
    package private(set) var window: Int
    /// Failures in a row, and the pauses that they began.
    private var failureCount = 0
    private var pauseCount = 0
    private var pausedUntil: Instant?

    package init(_ rules: Rules = Rules()) {
        self.rules = rules
        window = rules.windowMax
    }

    /// Whether there was a pause, and the bound is not what it was before.
    package var isSlowed: Bool { window < rules.windowMax }
    /// Whether a failure would count as one of several in a row.
    package var isFailing: Bool { failureCount > 0 }

    /// Returns the rest of a pause, or nil if there is none.
    package func pause(now: Instant) -> Duration? {
        pausedUntil.flatMap { now < $0 ? $0 - now : nil }
    }

    /// Returns how many more requests may begin now.
    package func room(inFlightCount: Int, now: Instant) -> Int {
        pause(now: now) == nil ? max(0, window - inFlightCount) : 0
    }

    /// The receiver accepted a request.
    package mutating func accepted(now: Instant) {
        if rules.isGradual, pause(now: now) != nil { return }
        (failureCount, pauseCount, pausedUntil) = (0, 0, nil)
        window = rules.isGradual ? min(rules.windowMax, window * 2) : rules.windowMax
    }

    /// The receiver failed, or asked for less.
    ///
    /// - Parameter asked: the pause that it asked for.
    package mutating func failed(asked: Duration? = nil, now: Instant) {
        failureCount += 1
        guard failureCount >= rules.failureCountMin || asked != nil else { return }
        var pause = min(asked ?? .zero, rules.longestAsked)
        // Requests that were under way together fail together. They count as one failure of the receiver.
        if self.pause(now: now) == nil {
            pause = max(pause, Backoff.delay(first: rules.firstPause, cap: rules.longestPause, doublings: pauseCount))
            pauseCount += 1
        }
        pausedUntil = max(pausedUntil ?? now, now + pause)
        window = 1
    }
}

/// When a request that failed is repeated.
package struct Retries: Sendable, Equatable {
    private enum Waits: Sendable, Equatable {
        case list([Duration])
        case doubling(first: Duration, cap: Duration)
    }

    private let waits: Waits
    /// A wait differs from the planned one by this share, so that requests that failed together are not repeated
    /// together.
    private let jitter: ClosedRange<Double>
    private let longestAsked: Duration?

    /// Waits of these lengths, and then no more tries.
    ///
    /// - Parameter longestAsked: the longest wait that the receiver can ask for; nil for no bound.
    package init(_ waits: [Duration], jitter: ClosedRange<Double> = 0...0, longestAsked: Duration? = nil) {
        self.waits = .list(waits)
        self.jitter = jitter
        self.longestAsked = longestAsked
    }

    /// Waits that double up to the cap, for ever.
    package init(first: Duration, cap: Duration, jitter: ClosedRange<Double> = 0...1) {
        waits = .doubling(first: first, cap: cap)
        self.jitter = jitter
        longestAsked = nil
    }

    /// Tries of one request, the first one included; nil for no bound.
    package var tryCountMax: Int? {
        if case .list(let waits) = waits { waits.count + 1 } else { nil }
    }

    /// The longest planned wait.
    package var longest: Duration {
        switch waits {
        case .list(let waits): waits.max() ?? .zero
        case .doubling(_, let cap): cap
        }
    }

    /// Returns the wait before the next try, or nil if there is none. It is never shorter than the receiver asked for.
    ///
    /// - Parameters:
    ///   - number: how many tries have failed, from 1.
    ///   - asked: the receiver's `Retry-After`.
    ///   - random: from 0 to 1.
    package func wait(afterTry number: Int, asked: Duration? = nil, random: Double) -> Duration? {
        let planned: Duration
        switch waits {
        case .list(let waits):
            guard waits.indices.contains(number - 1) else { return nil }
            planned = waits[number - 1]
        case .doubling(let first, let cap):
            planned = Backoff.delay(first: first, cap: cap, doublings: number - 1)
        }
        var least = asked ?? .zero
        if let longestAsked { least = min(least, longestAsked) }
        let share = jitter.lowerBound + (jitter.upperBound - jitter.lowerBound) * random
        return max(planned * (1 + min(0, share)), least) + planned * max(0, share)
    }
}
