// Erasing accounts.
import Domain
import Postgres

extension Store {
    /// Erases an account; `sweepErasures` does the rest. Returns its sessions, which have ended. Throws
    /// `user_not_found`.
    /// - Parameter erasesMessages: whether its messages are deleted, too.
    package func eraseAccount(_ user: UserID, erasesMessages: Bool) async throws -> [SessionID] {
        let row = try await row(
            Statement("account_erase", "select account_erase($1, $2)"), [.id(user), .bool(erasesMessages)])
        return try await decoded { try row.uuids(0).map { SessionID($0) } }
    }

    /// Does a part of what is left of erasures. Returns false when nothing is left. Runs on every node.
    /// - Parameter limit: how many messages are withdrawn together, with their thread locked.
    package func sweepErasures(limit: Int) async throws -> Bool {
        let row = try await row(
            Statement("erasure_sweep", "select erasure_sweep($1)"), [.int4(Int32(limit))])
        return try await decoded { try row.int4(0) > 0 }
    }
}
