// The caller's devices.
import Domain

extension API {
    var sessionRoutes: [Route] {
        [
            Route(.get, "/v1/sessions", .listSessions, query: .read, .signedIn(listSessions)),
            Route(.delete, "/v1/sessions", .deleteOtherSessions, .signedIn(deleteOtherSessions)),
            Route(.delete, "/v1/sessions/{session_id}", .deleteSession, .signedIn(deleteSession)),
        ]
    }

    private func listSessions(_ call: Call, _ identity: Identity) async throws -> Answer {
        var query = call.query
        let request = query.pageRequest()
        try query.end()
        return .list("sessions", try await store.sessions(of: identity.user, request), limit: request.limit)
    }

    private func deleteSession(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await signOut(call.id("session_id", orElse: .sessionNotFound), of: identity.user)
        return .noContent
    }

    /// Those on this node are dead when this answers, on the others when they read of it in the log.
    private func deleteOtherSessions(_ call: Call, _ identity: Identity) async throws -> Answer {
        let transactionCount = 100
        // Who signs in as fast as this goes on can't keep it here for ever.
        for _ in 0..<1_000 {
            let ended = try await store.deleteSessions(
                of: identity.user, but: identity.session, limit: transactionCount)
            forget(ended)
            if ended.count < transactionCount { break }
        }
        return .noContent
    }
}
