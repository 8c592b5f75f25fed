// Typing notices: sent to the other members, and stored nowhere.
import Domain
import Log
import Store

struct TypingCalls: Sendable {
    let store: Store
    let presence: PresenceWorker

    var routes: [Route] {
        [Route(.put, "/v1/threads/{thread_id}/typing", .putTyping, body: .unneeded, .signedIn(putTyping))]
    }

    /// No body is needed. An empty object is accepted.
    private func putTyping(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        try await call.noFields()
        if let event = try await store.typing(identity.user, in: thread) { presence.add(typing: event) }
        return .noContent
    }
}
