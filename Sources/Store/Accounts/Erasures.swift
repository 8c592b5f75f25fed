// Erasing accounts.
import Domain
import Postgres

extension Store {
    /// Erases an account; `sweepErasures` does the rest. Returns its sessions, which have ended. Throws
    /// `user_not_found`.
    /// - Parameter erasesMessages: whether its messages are deleted, too.
    package func eraseAccount(_ user: UserID, erasesMessages: Bool) async throws -> [SessionID] {
        try await value("account_erase", [.id(user), .bool(erasesMessages)]) { row in
            try row.uuids(0).map { SessionID($0) }
        }
    }

    /// Does a part of what is left of erasures. Returns false when nothing is left. Runs on every node.
    /// - Parameter limit: how many messages are withdrawn together, with their thread locked.
    package func sweepErasures(limit: Int) async throws -> Bool {
        try await value("erasure_sweep", [.int(limit)]) { try $0.int4(0) > 0 }
    }
}
