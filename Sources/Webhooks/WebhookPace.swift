// How fast an endpoint gets requests. Decisions only; time is a parameter.
import Basics

/// Bounds the requests under way to one endpoint. An endpoint that answers 429, 502, 503 or 504, names a
/// `Retry-After`, or cannot be reached gets a pause, then one request at a time. Each acceptance doubles the bound.
package struct WebhookPace: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Requests under way at once to one endpoint.
    package static let windowMax = 32
    /// The longest pause that an endpoint can ask for.
    package static let longestAsked = Duration.seconds(3_600)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    /// How many requests may be under way.
    package private(set) var window = Self.windowMax
    private let pauseMax: Duration
    private var slowCount = 0
    private var pausedUntil: Instant?

    /// - Parameter longestWait: the longest wait between two tries. A pause that nobody asked for is not longer.
    package init(longestWait: Duration) {
        pauseMax = min(Self.longestPause, max(Self.firstPause, longestWait))
    }

    /// Returns how many more requests may begin now.
    package func room(inFlightCount: Int, now: Instant) -> Int {
        if let pausedUntil, now < pausedUntil { return 0 }
        return max(0, window - inFlightCount)
    }

    /// Whether the endpoint is slowed.
    package var isSlowed: Bool { window < Self.windowMax }

    /// The endpoint accepted a request. During a pause this says nothing: the request had begun before it.
    package mutating func accepted(now: Instant) {
        if let pausedUntil, now < pausedUntil { return }
        slowCount = 0
        pausedUntil = nil
        window = min(Self.windowMax, window * 2)
    }

    /// The endpoint asked for less, or did not answer.
    ///
    /// - Parameter asked: its `Retry-After`.
    package mutating func slow(asked: Duration?, now: Instant) {
        // Requests that were under way together fail together. They count as one failure of the endpoint.
        let isNew = pausedUntil.map { $0 <= now } ?? true
        var pause = min(asked ?? .zero, Self.longestAsked)
        if isNew {
            pause = max(pause, Backoff.delay(first: Self.firstPause, cap: pauseMax, doublings: slowCount))
            slowCount += 1
        }
        pausedUntil = max(pausedUntil ?? now, now + pause)
        window = 1
    }
}
