// Finding messages by their words, and the index that this takes.
import Domain
import Postgres

extension Store {
    /// Messages of the threads that the user has joined, or of one of them, newest first: `{message, snippet}` each.
    /// Throws 422 when there is no word in the query.
    package func searchMessages(
        _ query: String, in thread: ThreadID?, for user: UserID, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page(
            Statement("message_search", "select * from message_search($1, $2, $3, $4, $5, $6)"),
            [.id(user), .uuid(orNull: thread?.uuid), .text(query)], request)
    }

    /// Makes the index one of a text search configuration. Throws 422 when the database has none of this name.
    package func configureSearch(_ configuration: String) async throws {
        _ = try await rows(Statement("search_configure", "select search_configure($1)"), [.text(configuration)])
    }

    /// Puts the next part of what is missing into the index.
    /// - Returns: how many events or messages were looked at, and up to which position the index has the log; nil while
    ///   another session is at it.
    package func indexMessages(limit: Int) async throws -> (lookedCount: Int, position: Position)? {
        let row = try await row(Statement("search_index", "select * from search_index($1)"), [.int4(Int32(limit))])
        return try await decoded {
            if row.isNull(1) { return nil }
            return (Int(try row.int4(0)), Position(try row.int8(1)))
        }
    }
}
