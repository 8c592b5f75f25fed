// Events that a change leaves for later.
import Domain
import Postgres

extension Store {
    /// Publishes a part of what is left of a change: of a profile, or of a thread that many people are invited to.
    /// Returns false when nothing was left.
    package func continueAnnouncement() async throws -> Bool {
        try await value("announcement_continue", []) { try $0.bool(0) }
    }
}
