// Sending messages and reading the archive.
import Domain

extension API {
    private static var path: String { "/v1/threads/{thread_id}/messages" }

    var messageRoutes: [Route] {
        [
            Route(.post, Self.path, .sendMessage, .signedIn(sendMessage)),
            Route(.get, Self.path, .listMessages, query: .read, .signedIn(listMessages)),
            Route(.get, Self.path + "/{message_id}", .getMessage, .signedIn(getMessage)),
            Route(.delete, Self.path + "/{message_id}", .deleteMessage, query: .read, .signedIn(deleteMessage)),
        ]
    }

    /// Only what ``SendEndpoint`` left to the router comes here.
    private func sendMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let body = try await call.body(byteCountMax: limits.bodyByteCountMax)
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try send.append(body, to: thread, by: identity, waiter: .task(continuation))
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private func listMessages(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        var query = call.query
        let limit = query.limit()
        let before = query.optional("before", ArchiveBound.self)
        let after = query.optional("after", ArchiveBound.self)
        try query.end()
        return .json(
            try await store.messages(in: thread, for: identity.user, before: before, after: after, limit: limit))
    }

    private func getMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.message(call.message(), in: call.thread(), for: identity.user))
    }

    private func deleteMessage(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let message = try call.message()
        var query = call.query
        _ = query.given("for") { text throws(Invalid) in
            switch text {
            case "everyone": break
            case "me": throw Invalid("Deleting for oneself alone is not available so far.")
            default: throw Invalid("Must be one of: everyone, me.")
            }
        }
        try query.end()
        try await store.deleteMessage(message, in: thread, by: identity.user)
        return .noContent
    }
}
