// Reviews: messages and edits that the policy sends to a moderator.
import Domain
import Postgres

extension Store {
    /// Returns a page of the reviews that wait for a decision, the newest first.
    package func reviews(_ request: PageRequest) async throws -> Page {
        try await reads.page("review_list", [], request)
    }

    /// Approves or refuses a message under review. Throws `review_not_found`, `review_decided`, `review_not_approvable`.
    /// - Parameter thread: needed only if messages with the same id are under review in several threads.
    package func decideReview(
        _ message: MessageID, in thread: ThreadID?, _ action: ReviewAction, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "review_put", actor.parameters + [.id(message), .uuid(orNull: thread?.uuid), .text(action.rawValue)])
    }

    /// Returns how many reviews wait for a decision, counted up to `countMax`.
    package func pendingReviewCount(countMax: Int) async throws -> Int {
        try await reads.value("review_count", [.int(countMax)]) { Int(try $0.int8(0)) }
    }
}
