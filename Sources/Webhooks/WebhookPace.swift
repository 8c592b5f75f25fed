// How fast an endpoint gets requests, and when a delivery that failed is retried.
import Basics
import Domain

extension Pace.Rules {
    /// Requests under way at once to one endpoint.
    package static let webhookWindow = 32

    /// An endpoint that answers 429, 502, 503 or 504, names a `Retry-After`, or cannot be reached gets a pause.
    ///
    /// - Parameter longestWait: the longest wait between two tries. A pause that nobody asked for is not longer.
    package static func webhook(longestWait: Duration) -> Self {
        var rules = Self()
        rules.windowMax = webhookWindow
        rules.longestPause = min(rules.longestPause, max(rules.firstPause, longestWait))
        rules.isGradual = true
        return rules
    }
}

extension Retries {
    /// The waits between the tries of one event, give or take a tenth. After the last one the event is parked.
    package static func webhook(seconds: [Int] = WebhookLimits.retrySeconds) -> Self {
        Self(seconds.map { .seconds($0) }, jitter: -0.1...0.1, longestAsked: Pace.Rules().longestAsked)
    }
}
