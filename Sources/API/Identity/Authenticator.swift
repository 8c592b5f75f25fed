// Finds the identity behind an Authorization header.
import Basics
import Credentials
import Domain
import FoundationEssentials
import Log
import Transport

/// Resolves session tokens: from the node's cache while its tail is fresh, otherwise from the database. So a session
/// that ended on any node ends here within a second. While the database is unavailable no token resolves.
package struct Authenticator: Sendable {
    package let sessions: SessionCache
    private let rates: RateLimits
    private let isFresh: @Sendable () -> Bool

    /// - Parameters:
    ///   - rates: limits the tokens that no session has, by address.
    ///   - isFresh: whether this node's tail has recently reached the end of the log.
    package init(sessions: SessionCache, rates: RateLimits, isFresh: @escaping @Sendable () -> Bool) {
        self.sessions = sessions
        self.rates = rates
        self.isFresh = isFresh
    }

    package enum Known: Sendable {
        case identity(Identity)
        /// This node does not know the session. The database is asked for it by this digest, on behalf of the client's
        /// address.
        case digest([UInt8], from: IPAddress?)
    }

    /// Looks up a token without suspending. Throws `unauthenticated` without a token, and `invalid_token` for a text
    /// that is no token.
    package func known(_ request: InboundRequest) throws(Problem) -> Known {
        guard let authorization = request.headers[.authorization] else { throw .noToken }
        guard let text = AuthorizationHeader.bearerToken(in: authorization), let token = SessionToken(parsing: text)
        else {
            throw .badToken
        }
        let digest = token.digest
        guard isFresh(), let identity = sessions.cached(digest, now: WallClock.micros) else {
            return .digest(digest, from: rates.address(of: request))
        }
        return .identity(identity)
    }

    /// The identity of a request, from the cache or else from the database.
    /// - Throws: as `known`; `invalid_token` if no session has the token; `rate_limited` if the address has sent too many
    ///   such tokens.
    package func identity(of request: InboundRequest) async throws -> Identity {
        try await identity(known(request))
    }

    func identity(_ known: Known) async throws -> Identity {
        switch known {
        case .identity(let identity): return identity
        case .digest(let digest, let address):
            let found = try await rates.lookUp(.session, from: address) {
                try await sessions.find(digest, now: WallClock.micros)
            }
            guard let found else { throw Problem.badToken }
            return found
        }
    }

    /// Ends sessions at once on this node.
    func revoke(_ ended: [SessionID]) {
        for session in ended { sessions.revoke(session, at: nil) }
    }

    /// Whether a session that was found before still exists, as far as this node knows. Counts as a use of it.
    func goesOn(_ session: SessionID) -> Bool { sessions.touch(session, now: WallClock.micros) }
}

extension Problem {
    package static let noToken = Problem(
        .unauthenticated, "The session token is missing. Send it as `Authorization: Bearer …`.")
    package static let badToken = Problem(
        .invalidToken, "The token is invalid, or its session has ended. Sign in again.")
}
