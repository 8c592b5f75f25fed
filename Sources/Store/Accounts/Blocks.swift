// Blocks.
import Domain
import Postgres

extension Store {
    /// Blocks `other`, or unblocks; doing it again changes nothing. Throws `user_not_found`, and `invalid` for the user
    /// itself.
    package func putBlock(of other: UserID, by user: UserID, isBlocked: Bool) async throws {
        _ = try await rows(
            Statement("block_put", "select block_put($1, $2, $3)"), [.id(user), .id(other), .bool(isBlocked)])
    }

    /// Returns a page of the users whom the user has blocked, the latest first.
    package func blocks(of user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(Statement("block_list", "select * from block_list($1, $2, $3, $4)"), [.id(user)], request)
    }
}
