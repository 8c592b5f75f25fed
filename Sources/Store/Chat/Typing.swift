// Typing: an event that is published and not stored.
import Domain
import Postgres

extension Store {
    /// Returns the event that a user types; nil if it has no recipients.
    package func typing(_ user: UserID, in thread: ThreadID) async throws -> PassingEvent? {
        let row = try await row(Statement("typing_put", "select typing_put($1, $2)"), [.id(user), .id(thread)])
        return try await decoded {
            row.isNull(0) ? nil : PassingEvent(user: user, threads: [thread], body: try row.json(0))
        }
    }
}
