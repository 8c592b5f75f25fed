// The caller's devices.
import Domain

extension API {
    var sessionRoutes: [Route] {
        [
            Route(.get, "/v1/sessions", .listSessions, query: .read, .signedIn(listSessions)),
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
}
