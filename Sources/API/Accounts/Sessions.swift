// The caller's sessions: one for each device.
import Domain
import Store

struct SessionCalls: Sendable {
    let store: Store
    let authenticator: Authenticator

    var routes: [Route] {
        [
            Route(.post, "/v1/auth/logout", .logout, body: .unneeded, repeats: .ignored, .signedIn(logout)),
            Route(.get, "/v1/sessions", .listSessions, query: .read, .signedIn(listSessions)),
            Route(.delete, "/v1/sessions", .deleteOtherSessions, .signedIn(deleteOtherSessions)),
            Route(.delete, "/v1/sessions/{session_id}", .deleteSession, .signedIn(deleteSession)),
        ]
    }

    private func logout(_ call: Call, _ identity: Identity) async throws -> Answer {
        do {
            try await signOut(identity.session, of: identity.user)
        } catch let problem as Problem where problem.code == .sessionNotFound {
            // Another device ended the session meanwhile, so the caller's wish is fulfilled.
        }
        return .signedOut
    }

    /// Ends a session: at once on this node, and on other nodes when they read the event in the log.
    private func signOut(_ session: SessionID, of user: UserID) async throws {
        try await store.deleteSession(session, of: user)
        authenticator.revoke([session])
    }

    private func listSessions(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await call.list("sessions") { try await store.sessions(of: identity.user, $0) }
    }

    private func deleteSession(_ call: Call, _ identity: Identity) async throws -> Answer {
        let session: SessionID = try call.id("session_id", orElse: .sessionNotFound)
        try await signOut(session, of: identity.user)
        return session == identity.session ? .signedOut : .noContent
    }

    private func deleteOtherSessions(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await endOtherSessions(identity)
        return .noContent
    }

    /// Ends all other sessions of the caller's account: at once on this node, and on other nodes when they read the
    /// events in the log. By default an account has at most 100 sessions, which is one transaction. An account from
    /// before the limit may have more, at 0.1 ms each.
    ///
    /// Throws `unavailable` if not all have ended within 10 s.
    func endOtherSessions(_ identity: Identity) async throws {
        let transactionCount = 100
        let deadline = ContinuousClock.now + .seconds(10)
        repeat {
            let ended = try await store.deleteSessions(
                of: identity.user, but: identity.session, limit: transactionCount)
            authenticator.revoke(ended)
            if ended.count < transactionCount { return }
        } while ContinuousClock.now < deadline
        throw Problem(
            .unavailable, "Not all sessions have ended yet. Repeat DELETE /v1/sessions until it returns 204.",
            retryAfterS: 1)
    }
}
