// When a delivery that failed is retried. Chance is a parameter.
import Domain

/// The waits between the tries of one event. After the last one the event is parked.
package struct WebhookRetries: Sendable, Equatable {
    /// A wait differs from the schedule by up to this share, so that events that failed together are not retried
    /// together.
    private static let jitter = 0.1

    package let seconds: [Int]

    package init(seconds: [Int] = WebhookLimits.retrySeconds) { self.seconds = seconds }

    /// Tries of one event, the first one included.
    package var tryCountMax: Int { seconds.count + 1 }

    /// The longest wait of the schedule.
    package var longest: Duration { .seconds(seconds.max() ?? 0) }

    /// Returns the wait before the next try, or nil if the event is to be parked. The wait is never shorter than the
    /// endpoint asked for.
    ///
    /// - Parameters:
    ///   - number: how many tries have failed, from 1.
    ///   - asked: the endpoint's `Retry-After`.
    ///   - random: from 0 to 1.
    package func wait(afterTry number: Int, asked: Duration?, random: Double) -> Duration? {
        guard number >= 1, number <= seconds.count else { return nil }
        let planned = Duration.seconds(seconds[number - 1]) * (1 - Self.jitter + 2 * Self.jitter * random)
        return max(planned, min(asked ?? .zero, WebhookPace.longestAsked))
    }
}
