// Who is asking: from the Authorization header to an identity.
import Credentials
import Domain
import Foundation
import Log

/// Resolves bearer tokens, from the node's cache as long as its tail is fresh, else from the database: a token that was
/// signed out anywhere is dead here within a second, or the moment the database can't be asked, unknown.
package struct Authenticator: Sendable {
    package let sessions: SessionCache
    private let isFresh: @Sendable () -> Bool

    /// - Parameter isFresh: whether this node's tail has come to the log's end lately.
    package init(sessions: SessionCache, isFresh: @escaping @Sendable () -> Bool) {
        self.sessions = sessions
        self.isFresh = isFresh
    }

    package enum Known: Sendable {
        case identity(Identity)
        /// Not known on this node: ask the database for the session with this digest.
        case digest([UInt8])
    }

    /// What can be said without suspending. Throws `unauthenticated` when there is no well-formed token.
    package func known(_ authorization: String?) throws(Problem) -> Known {
        guard let authorization else { throw .noToken }
        guard let text = AuthorizationHeader.bearerToken(in: authorization), let token = SessionToken(parsing: text)
        else {
            throw .badToken
        }
        let digest = token.digest
        guard isFresh(), let identity = sessions.cached(digest, now: nowMicros) else { return .digest(digest) }
        return .identity(identity)
    }

    /// Asks the database. Throws `unauthenticated` for a token that isn't, or is no more, a session's.
    package func find(_ digest: [UInt8]) async throws -> Identity {
        guard let identity = try await sessions.find(digest, now: nowMicros) else { throw Problem.badToken }
        return identity
    }

    /// `known`, and the database where that doesn't tell.
    package func identity(_ authorization: String?) async throws -> Identity {
        switch try known(authorization) {
        case .identity(let identity): identity
        case .digest(let digest): try await find(digest)
        }
    }

    /// Whether a session goes on that was found before, by what this node knows. It counts as used.
    func goesOn(_ session: SessionID) -> Bool { sessions.touch(session, now: nowMicros) }

    private var nowMicros: Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}

extension Problem {
    package static let noToken = Problem(
        .unauthenticated, "The session token is missing. Send it as `Authorization: Bearer …`.")
    package static let badToken = Problem(
        .invalidToken, "The token is invalid, or its session has ended. Sign in again.")
}
