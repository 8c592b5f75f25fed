// When a mail is sent again after a failure.
import Basics

enum MailRetry {
    private static let first = Duration.seconds(2)
    private static let cap = Duration.seconds(60)

    /// Doubles with each attempt up to the cap. Up to the same time is added by chance, so that mails that failed
    /// together are not retried together.
    ///
    /// - Parameter random: from 0 to 1.
    static func wait(afterAttempt attempt: Int, random: Double) -> Duration {
        Backoff.delay(first: first, cap: cap, doublings: attempt - 1) * (1 + random)
    }
}
