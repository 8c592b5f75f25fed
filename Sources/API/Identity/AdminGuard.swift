// Finds who makes an admin call: the operator, by an admin token, or a program, by a key with scopes. Wrong tokens are
// limited by address, counted and logged. A random token cannot be guessed, but the operator should know of attempts.
import Basics
import Credentials
import Domain
import Log
import Logging
import Store
import Telemetry
import Transport

/// Compares received tokens with the configured ones, and resolves keys: from the node's cache while its tail is fresh,
/// otherwise from the database. So a key that was revoked on any node ends here within a second. From any thread.
package final class AdminGuard: Sendable {
    /// Empty: only keys open the admin API. To a caller without one it does not exist.
    private let tokens: [AdminToken]
    private let keys: AdminKeyCache
    private let rates: RateLimits
    private let isFresh: @Sendable () -> Bool
    private let log: RateLimitedLog

    init(
        _ tokens: [AdminToken], keys: AdminKeyCache, rates: RateLimits, logger: Logger,
        isFresh: @escaping @Sendable () -> Bool
    ) {
        self.tokens = tokens
        self.keys = keys
        self.rates = rates
        self.isFresh = isFresh
        log = RateLimitedLog(logger)
    }

    private enum Known {
        case token
        case key(AdminKey)
        /// This node does not know the key. The database is asked for it by this digest, on behalf of the client's
        /// address.
        case digest([UInt8], from: IPAddress?)
    }

    /// The caller of an admin call that needs a scope. Asks the database for a key that this node does not know.
    /// - Throws: as `check`; `invalid_token` if no key has the token; 422 for a wrong `Parley-Actor`.
    func actor(_ request: InboundRequest, needing scope: AdminScope) async throws -> AdminActor {
        let key: AdminKey?
        switch try known(request.headers[.authorization], from: rates.address(of: request)) {
        case .token: key = nil
        case .key(let known): key = known
        case .digest(let digest, let address):
            key = try await rates.lookUp(.key, from: address) { try await keys.find(digest, now: WallClock.micros) }
            if key == nil { throw Problem.badAdminKey }
        }
        try key?.require([scope])
        return try AdminActor(request.headers[.parleyActor], requestID: request.number.text, key: key)
    }

    /// Checks the head of a request as far as this node can without the database.
    func check(_ request: InboundRequest, needing scope: AdminScope) throws(Problem) {
        try check(request.headers[.authorization], from: rates.address(of: request), needing: scope)
    }

    /// Throws `unauthenticated` without a token, `invalid_token` for a wrong one, and `scope_missing` for a key without
    /// the scope. Throws `rate_limited`, for any admin token, if the address has sent too many wrong ones. Throws
    /// `not_found` for what is no key if no admin token is configured.
    func check(_ authorization: String?, from address: IPAddress?, needing scope: AdminScope) throws(Problem) {
        if case .key(let key) = try known(authorization, from: address) { try key.require([scope]) }
    }

    /// Whether the admin API does not exist for the caller: no admin token is configured, and the caller sends no key.
    func isHidden(from request: InboundRequest) -> Bool {
        tokens.isEmpty && Self.key(request.headers[.authorization]) == nil
    }

    /// Whether the caller may still see what is answered: false once the caller's key was revoked or has expired.
    func isValid(_ actor: AdminActor) -> Bool {
        guard let key = actor.key else { return true }
        return !keys.isRevoked(key.id) && !key.isExpired(now: WallClock.micros)
    }

    /// Ends a key at once on this node.
    func revoke(_ key: AdminKeyID) { keys.revoke(key, at: nil) }

    private static func key(_ authorization: String?) -> AdminKeyToken? {
        authorization.flatMap { AuthorizationHeader.bearerToken(in: $0) }.flatMap { AdminKeyToken(parsing: $0) }
    }

    private func known(_ authorization: String?, from address: IPAddress?) throws(Problem) -> Known {
        if let digest = Self.key(authorization)?.digest {
            guard isFresh(), let key = keys.cached(digest, now: WallClock.micros) else {
                return .digest(digest, from: address)
            }
            return .key(key)
        }
        guard !tokens.isEmpty else { throw .nothingHere }
        guard let authorization else { throw .noAdminToken }
        try rates.useAdminToken(from: address)
        guard let guess = AuthorizationHeader.bearerToken(in: authorization),
            tokens.contains(where: { $0.matches(guess) })
        else {
            rates.guessedAdminToken(from: address)
            log.warning("wrong admin tokens were sent")
            throw Problem(
                .invalidToken, "The admin token is wrong. Send a token that the operator configured, or a key.")
        }
        return .token
    }
}

extension Problem {
    fileprivate static let noAdminToken = Problem(
        .unauthenticated, "The admin token or key is missing. Send it as `Authorization: Bearer …`.")
    static let badAdminKey = Problem(
        .invalidToken, "The admin key is invalid, has expired or was revoked. Create another one.")
}
