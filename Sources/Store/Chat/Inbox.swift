// A user's inbox.
import Domain
import Postgres

/// A page of the inbox, and the point of the log at which it was read.
package struct InboxPage: Sendable {
    /// An array of thread views.
    package var threads: JSONText
    package var unreadTotal: Int64
    package var cursor: Cursor
    package var next: PageKey?
}

extension Store {
    /// - Parameter labels: those that each thread has, its own or the user's; empty for any.
    package func inbox(
        for user: UserID, unreadOnly: Bool, labels: [String] = [], _ request: PageRequest
    ) async throws -> InboxPage {
        try await reads.row(
            "inbox",
            [
                .id(user), .int(request.limit), .bool(unreadOnly), .int8(orNull: request.after?.boundedRank),
                .uuid(orNull: request.after?.id), .texts(orNull: labels.isEmpty ? nil : labels),
            ]
        ) { row in
            var next: PageKey?
            if let rank = try row.int8OrNull(4), let id = try row.uuidOrNull(5) { next = PageKey(rank: rank, id: id) }
            return InboxPage(
                threads: try row.json(0), unreadTotal: try row.int8(1),
                cursor: Cursor(epoch: try row.int4(3), position: Position(try row.int8(2))), next: next)
        }
    }
}
