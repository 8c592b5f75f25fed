// Blocks.
import Domain
import Postgres

extension Store {
    /// Blocks `other`, or unblocks; doing it again changes nothing. Throws `user_not_found`, and `invalid` for the user
    /// itself.
    package func putBlock(of other: UserID, by user: UserID, isBlocked: Bool) async throws {
        try await call("block_put", [.id(user), .id(other), .bool(isBlocked)])
    }

    /// Returns a page of the users whom the user has blocked, the latest first.
    package func blocks(of user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page("block_list", [.id(user)], request)
    }
}
