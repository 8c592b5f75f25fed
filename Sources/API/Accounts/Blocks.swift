// Blocks: the users who cannot reach the caller.
import Domain
import Store

struct BlockCalls: Sendable {
    let store: Store

    private static var path: String { "/v1/users/me/blocks" }

    var routes: [Route] {
        [
            Route(.get, Self.path, .listBlocks, query: .read, .signedIn(listBlocks)),
            Route(.put, Self.path + "/{user_id}", .putBlock, body: .unneeded, .signedIn(putBlock)),
            Route(.delete, Self.path + "/{user_id}", .deleteBlock, .signedIn(deleteBlock)),
        ]
    }

    private func listBlocks(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await call.list("blocks") { try await store.blocks(of: identity.user, $0) }
    }

    /// No body is needed. An empty object is accepted.
    private func putBlock(_ call: Call, _ identity: Identity) async throws -> Answer {
        let other = try call.user(identity, orElse: .userNotFound)
        try await call.noFields()
        try await store.putBlock(of: other, by: identity.user, isBlocked: true)
        return .noContent
    }

    private func deleteBlock(_ call: Call, _ identity: Identity) async throws -> Answer {
        let other = try call.user(identity, orElse: .userNotFound)
        try await store.putBlock(of: other, by: identity.user, isBlocked: false)
        return .noContent
    }
}
