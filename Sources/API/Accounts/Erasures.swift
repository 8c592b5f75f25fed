// Erasing the caller's account. The operator's erasures are in Admin.swift.
import Domain
import Store

struct ErasureCalls: Sendable {
    let store: Store
    let authenticator: Authenticator

    var routes: [Route] {
        [Route(.delete, "/v1/users/me", .eraseOwnAccount, query: .read, .signedIn(eraseOwnAccount))]
    }

    /// Its sessions end at once on this node, and on other nodes when they read the events in the log.
    private func eraseOwnAccount(_ call: Call, _ identity: Identity) async throws -> Answer {
        let sessions = try await store.eraseAccount(
            identity.user, erasesMessages: Self.fate(call.query) == .erase)
        authenticator.revoke(sessions)
        return .signedOut
    }

    /// Whether the messages of an erased account are kept.
    static func fate(_ query: Fields<String>) throws -> MessagesFate {
        var query = query
        let fate = query.optional("messages", MessagesFate.self)
        try query.end()
        return fate ?? .keep
    }
}
