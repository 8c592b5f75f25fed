// Typing: an event that is published and not stored.
import Domain
import Postgres

extension Store {
    /// Returns the event that a user types; nil if it has no recipients.
    package func typing(_ user: UserID, in thread: ThreadID) async throws -> PassingEvent? {
        try await value("typing_put", [.id(user), .id(thread)]) {
            $0.isNull(0) ? nil : PassingEvent(user: user, threads: [thread], body: try $0.json(0))
        }
    }
}
