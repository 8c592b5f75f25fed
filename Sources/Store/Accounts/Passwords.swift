// Passwords: reading and replacing stored hashes. The caller computes hashes between two calls. Each change compares
// with the hash that the caller checked, so that a change in between is never overwritten.
import Domain
import Postgres

extension Store {
    /// Returns what a password is checked against: nil for an unknown name; no hash for accounts that sign in another
    /// way.
    package func credentials(key: String) async throws -> (user: UserID, passwordHash: String?)? {
        try await firstRow("account_credentials", [.text(key)]) { (UserID(try $0.uuid(0)), try $0.textOrNull(1)) }
    }

    /// Returns the case-folded username and the hash of an account that signs in by password; nil for any other.
    package func password(of user: UserID) async throws -> (usernameKey: String, hash: String)? {
        let found = try await firstRow("account_password", [.id(user)]) { (try $0.textOrNull(0), try $0.textOrNull(1)) }
        guard case (let key?, let hash?)? = found else { return nil }
        return (key, hash)
    }

    /// Signs an account in on one more device, by the password that has this hash. Throws `account_suspended`.
    /// - Parameter newHash: the same password at another cost, which replaces the stored hash.
    /// - Returns: nil if the account has another hash by now.
    package func signIn(
        user: UserID, passwordHash: String, newHash: String?, session: NewSession
    ) async throws -> SignedIn? {
        try await firstRow(
            "account_sign_in",
            [.id(user), .text(passwordHash), .text(orNull: newHash)] + session.parameters + [
                .int(session.accountCountMax)
            ]
        ) { try $0.signedIn() }
    }

    /// Replaces the password that has this hash, and signs out the account's other devices, at most `limit`, in the
    /// same transaction. Throws `invalid_token` if the caller's device was signed out meanwhile.
    /// - Returns: the sessions that ended; nil if the account has another hash by now, and then nothing was changed.
    package func changePassword(
        of user: UserID, but session: SessionID, from hash: String, to newHash: String, limit: Int
    ) async throws -> [SessionID]? {
        try await value(
            "account_password_change", [.id(user), .id(session), .text(hash), .text(newHash), .int(limit)]
        ) { row in row.isNull(0) ? nil : try row.uuids(0).map { SessionID($0) } }
    }
}
