// Checks the admin token. Wrong tokens are limited by address, counted and logged. A random token cannot be guessed,
// but the operator should know of attempts.
import Basics
import Credentials
import Domain
import Logging
import Synchronization
import Transport

/// Compares received tokens with the configured one. From any thread.
final class AdminGuard: Sendable {
    /// Between warnings, however many guesses there are.
    private static let warningInterval = Duration.seconds(60)

    private struct Guesses {
        var unreported = 0
        var nextWarning: ContinuousClock.Instant?
    }

    private let token: AdminToken
    private let rates: RateLimits
    private let logger: Logger
    private let guesses = Mutex(Guesses())

    init(_ token: AdminToken, rates: RateLimits, logger: Logger) {
        self.token = token
        self.rates = rates
        self.logger = logger
    }

    /// Throws `unauthenticated` without a token, and `invalid_token` for a wrong one. Throws `rate_limited`, for any
    /// token, if the address has sent too many wrong ones.
    func check(_ authorization: String?, from address: IPAddress?) throws(Problem) {
        guard let authorization else { throw .noAdminToken }
        try rates.useAdminToken(from: address)
        guard let guess = AuthorizationHeader.bearerToken(in: authorization), token.matches(guess) else {
            rates.guessedAdminToken(from: address)
            warn()
            throw Problem(.invalidToken, "The admin token is wrong. Send the token that the operator configured.")
        }
    }

    private func warn() {
        let now = ContinuousClock.now
        let count: Int? = guesses.withLock { guesses in
            guesses.unreported += 1
            guard now >= guesses.nextWarning ?? now else { return nil }
            guesses.nextWarning = now + Self.warningInterval
            defer { guesses.unreported = 0 }
            return guesses.unreported
        }
        guard let count else { return }
        logger.warning("wrong admin tokens were sent", metadata: ["count": "\(count)"])
    }
}

extension Problem {
    fileprivate static let noAdminToken = Problem(
        .unauthenticated, "The admin token is missing. Send it as `Authorization: Bearer …`.")
}
