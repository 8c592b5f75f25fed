// Other users, as their profiles show them.
import Domain
import Postgres

extension Store {
    /// Returns a profile, with the user's presence if the viewer may see it. Throws `user_not_found`.
    package func user(_ user: UserID, for viewer: UserID) async throws -> JSONText {
        let row = try await reads.row(Statement("user_get", "select user_get($1, $2)"), [.id(user), .id(viewer)])
        guard !row.isNull(0) else { throw Problem.userNotFound }
        return try await decoded { try row.json(0) }
    }

    /// Returns a page of the directory by a case-folded prefix, with the presence of users with whom the viewer has a
    /// direct thread.
    package func searchUsers(prefix: String, for viewer: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("user_search", "select * from user_search($1, $3, $4, $5, $2)"), [.text(prefix), .id(viewer)],
            request)
    }
}
