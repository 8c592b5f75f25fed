// Reviews: messages and edits that the policy sends to a moderator.
import Domain
import Postgres

extension Store {
    /// Returns a page of the reviews that wait for a decision, the newest first.
    package func reviews(_ request: PageRequest) async throws -> Page {
        try await reads.page(Statement("review_list", "select * from review_list($1, $2, $3)"), [], request)
    }

    /// Approves or refuses a message under review. Throws `review_not_found`, `review_decided`, `review_not_approvable`.
    /// - Parameter thread: needed only if messages with the same id are under review in several threads.
    package func decideReview(
        _ message: MessageID, in thread: ThreadID?, _ action: ReviewAction, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            Statement("review_put", "select review_put($1, $2, $3, $4, $5)"),
            actor.parameters + [.id(message), .uuid(orNull: thread?.uuid), .text(action.rawValue)])
    }

    /// Returns how many reviews wait for a decision, counted up to `countMax`.
    package func pendingReviewCount(countMax: Int) async throws -> Int {
        let row = try await reads.row(Statement("review_count", "select review_count($1)"), [.int4(Int32(countMax))])
        return try await decoded { Int(try row.int8(0)) }
    }
}
