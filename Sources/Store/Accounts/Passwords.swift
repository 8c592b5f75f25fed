// Passwords: reading and replacing stored hashes. The caller computes hashes between two calls. Each change compares
// with the hash that the caller checked, so that a change in between is never overwritten.
import Domain
import Postgres

extension Store {
    /// Returns what a password is checked against: nil for an unknown name; no hash for accounts that sign in another
    /// way.
    package func credentials(key: String) async throws -> (user: UserID, passwordHash: String?)? {
        let rows = try await rows(
            Statement("account_credentials", "select * from account_credentials($1)"), [.text(key)])
        return try await decoded { try rows.first.map { (UserID(try $0.uuid(0)), try $0.textOrNull(1)) } }
    }

    /// Returns the case-folded username and the hash of an account that signs in by password; nil for any other.
    package func password(of user: UserID) async throws -> (usernameKey: String, hash: String)? {
        let rows = try await rows(Statement("account_password", "select * from account_password($1)"), [.id(user)])
        return try await decoded {
            guard let row = rows.first, let key = try row.textOrNull(0), let hash = try row.textOrNull(1) else {
                return nil
            }
            return (key, hash)
        }
    }

    /// Signs an account in on one more device, by the password that has this hash. Throws `account_suspended`.
    /// - Parameter newHash: the same password at another cost, which replaces the stored hash.
    /// - Returns: nil if the account has another hash by now.
    package func signIn(
        user: UserID, passwordHash: String, newHash: String?, session: NewSession
    ) async throws -> SignedIn? {
        let rows = try await rows(
            Statement("account_sign_in", "select * from account_sign_in($1, $2, $3, $4, $5, $6, $7)"),
            [.id(user), .text(passwordHash), .text(orNull: newHash)] + session.parameters
                + [.int4(Int32(session.accountCountMax))])
        return try await decoded { try rows.first?.signedIn() }
    }

    /// Replaces the password that has this hash, and signs out the account's other devices, at most `limit`, in the
    /// same transaction. Throws `invalid_token` if the caller's device was signed out meanwhile.
    /// - Returns: the sessions that ended; nil if the account has another hash by now, and then nothing was changed.
    package func changePassword(
        of user: UserID, but session: SessionID, from hash: String, to newHash: String, limit: Int
    ) async throws -> [SessionID]? {
        let row = try await row(
            Statement("account_password_change", "select account_password_change($1, $2, $3, $4, $5)"),
            [.id(user), .id(session), .text(hash), .text(newHash), .int4(Int32(limit))])
        return try await decoded { row.isNull(0) ? nil : try row.uuids(0).map { SessionID($0) } }
    }
}
