// Checks the admin token. Wrong tokens are limited by address, counted and logged. A random token cannot be guessed,
// but the operator should know of attempts.
import Basics
import Credentials
import Domain
import Logging
import Store
import Telemetry
import Transport

/// Compares received tokens with the configured one. From any thread.
final class AdminGuard: Sendable {
    private let token: AdminToken
    private let rates: RateLimits
    private let log: RateLimitedLog

    init(_ token: AdminToken, rates: RateLimits, logger: Logger) {
        self.token = token
        self.rates = rates
        log = RateLimitedLog(logger)
    }

    /// The caller of an admin call. Throws as `check` does, and 422 for a wrong `Parley-Actor`.
    func actor(_ request: InboundRequest) throws(Problem) -> AdminActor {
        try check(request)
        return try AdminActor(request.headers[.parleyActor], requestID: request.number.text)
    }

    /// Throws as the check of a token does.
    func check(_ request: InboundRequest) throws(Problem) {
        try check(request.headers[.authorization], from: rates.address(of: request))
    }

    /// Throws `unauthenticated` without a token, and `invalid_token` for a wrong one. Throws `rate_limited`, for any
    /// token, if the address has sent too many wrong ones.
    func check(_ authorization: String?, from address: IPAddress?) throws(Problem) {
        guard let authorization else { throw .noAdminToken }
        try rates.useAdminToken(from: address)
        guard let guess = AuthorizationHeader.bearerToken(in: authorization), token.matches(guess) else {
            rates.guessedAdminToken(from: address)
            log.warning("wrong admin tokens were sent")
            throw Problem(.invalidToken, "The admin token is wrong. Send the token that the operator configured.")
        }
    }
}

extension Problem {
    fileprivate static let noAdminToken = Problem(
        .unauthenticated, "The admin token is missing. Send it as `Authorization: Bearer …`.")
}
