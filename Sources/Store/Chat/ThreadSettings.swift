// A member's own settings of a thread.
import Domain
import Postgres

extension Store {
    /// Changes the caller's settings of a thread; `changes` is an object of the members to change.
    package func updateSettings(of thread: ThreadID, for user: UserID, changes: JSONText) async throws -> JSONText {
        try await json("settings_update", [.id(user), .id(thread), .json(changes)])
    }
}
