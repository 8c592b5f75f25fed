// Reviews: messages and edits that the policy sends to a moderator, who approves or refuses them.
import Domain
import Store

struct ReviewCalls: Sendable {
    let store: Store

    /// Empty unless an admin token is configured. Messages stay under review when the policy's setting is removed.
    var routes: [Route] {
        return [
            Route(
                .get, "/v1/admin/reviews", .adminListReviews, query: .read,
                .adminList(.moderation, "reviews", store.reviews)),
            Route(
                .put, "/v1/admin/reviews/{message_id}", .adminDecideReview, body: .small,
                .admin(.moderation, decideReview)),
        ]
    }

    private func decideReview(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let message: MessageID = try call.id("message_id", orElse: Problem(.reviewNotFound, "There is no such review."))
        let (action, reference) = try await call.fields { fields in
            let action = fields.required("action", ReviewAction.self)
            let thread = fields.optional("thread_id", ThreadReference.self)
            return (try fields.values(action), thread)
        }
        var thread: ThreadID?
        if let reference { thread = try await store.id(of: reference, in: "thread_id") }
        return .json(try await store.decideReview(message, in: thread, action, by: actor))
    }
}
