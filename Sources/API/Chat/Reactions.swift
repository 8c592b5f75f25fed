// Reacting to a message with an emoji, and removing the reaction. Messages show their reactions.
import Domain
import Store

struct ReactionCalls: Sendable {
    let store: Store
    let rates: RateLimits

    var routes: [Route] {
        let path = "/v1/threads/{thread_id}/messages/{message_id}/reactions/{emoji}"
        return [
            Route(.put, path, .putReaction, .signedIn(putReaction)),
            Route(.delete, path, .deleteReaction, .signedIn(deleteReaction)),
            Route(.get, path, .listReactions, query: .read, .signedIn(listReactions)),
        ]
    }

    private func putReaction(_ call: Call, _ identity: Identity) async throws -> Answer {
        let memberCount = try await store.putReaction(
            call.emoji(), to: call.message(), in: call.thread(), by: identity.user)
        rates.charge(reaching: memberCount, by: identity.user)
        return .noContent
    }

    private func deleteReaction(_ call: Call, _ identity: Identity) async throws -> Answer {
        let memberCount = try await store.deleteReaction(
            call.emoji(), to: call.message(), in: call.thread(), by: identity.user)
        rates.charge(reaching: memberCount, by: identity.user)
        return .noContent
    }

    private func listReactions(_ call: Call, _ identity: Identity) async throws -> Answer {
        let emoji = try call.emoji()
        return try await call.list("users") {
            try await store.reactions(
                with: emoji, to: call.message(), in: call.thread(), for: identity.user, $0)
        }
    }
}

extension Call {
    /// The emoji of the path. Only percent-encoding is decoded: a slash would be part of another path.
    fileprivate func emoji() throws(Problem) -> Emoji {
        do {
            return try Emoji(percentEncoded: parameters["emoji"] ?? "")
        } catch {
            throw Problem(error.inside("emoji"))
        }
    }
}
