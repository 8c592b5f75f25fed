// Finding messages by their words, and maintaining the index for that.
import Domain
import Postgres

extension Store {
    /// Returns messages of the threads that the user has joined, or of one of them, newest first: `{message, snippet}`
    /// each. After `timeoutMs` the page ends with what was found so far, and the next one continues from there. Throws
    /// 422 when the query has no word, and 503 when the time was over before anything was searched.
    package func searchMessages(
        _ query: String, in thread: ThreadID?, for user: UserID, _ request: PageRequest, timeoutMs: Int
    ) async throws -> Page {
        try await replica.page(
            "message_search", [.id(user), .uuid(orNull: thread?.uuid), .text(query)], request,
            trailing: [.int(timeoutMs)])
    }

    /// Sets the index's text search configuration. Throws 422 when the database has none of this name.
    package func configureSearch(_ configuration: String) async throws {
        try await call("search_configure", [.text(configuration)])
    }

    /// Indexes the next part of what is missing: at most `limit` events or messages, ending after the one that brings
    /// it to `wordCount` words.
    /// - Returns: how many events or messages it looked at, and the position up to which the index has the log; nil
    ///   while another session indexes.
    package func indexMessages(
        limit: Int, wordCount: Int
    ) async throws -> (lookedCount: Int, position: Position)? {
        try await row("search_index", [.int(limit), .int(wordCount)]) { row in
            if row.isNull(1) { return nil }
            return (Int(try row.int4(0)), Position(try row.int8(1)))
        }
    }
}
