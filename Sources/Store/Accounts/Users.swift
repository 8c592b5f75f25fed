// Other users, as their profiles show them.
import Domain
import Postgres

extension Store {
    /// Returns a profile, with the user's presence if the viewer may see it. Throws `user_not_found`.
    package func user(_ user: UserID, for viewer: UserID) async throws -> JSONText {
        let profile = try await reads.value("user_get", [.id(user), .id(viewer)]) { try $0.bytesOrNull(0) }
        guard let profile else { throw Problem.userNotFound }
        return JSONText(utf8: profile)
    }

    /// Returns a page of the directory by a case-folded prefix, with the presence of users with whom the viewer has a
    /// direct thread.
    /// - Parameter isShared: whether only people who share a thread with the viewer are found.
    package func searchUsers(
        prefix: String, for viewer: UserID, isShared: Bool, _ request: PageRequest
    ) async throws -> Page {
        try await reads.page("user_search", [.text(prefix), .id(viewer), .bool(isShared)], request)
    }
}
