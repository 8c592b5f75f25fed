// When a mail is sent again.
import Testing

@testable import Service

@Suite("Retries of mails", .timeLimit(.minutes(1)))
struct MailRetries {
    @Test(
        "wait twice as long after each attempt, a minute at most",
        arguments: [
            (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 60), (7, 60), (1_000, 60),
        ])
    func doubling(attempt: Int, seconds: Int) {
        #expect(MailRetry.wait(afterAttempt: attempt, random: 0) == .seconds(seconds))
    }

    @Test("wait up to the same time longer at random, so that mails that failed together are not retried together")
    func jitter() {
        #expect(MailRetry.wait(afterAttempt: 1, random: 0.5) == .seconds(3))
        #expect(MailRetry.wait(afterAttempt: 9, random: 1) == .seconds(120))
    }
}
