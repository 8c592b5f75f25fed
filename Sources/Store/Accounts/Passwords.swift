// Passwords: reading and replacing stored hashes. The caller computes hashes between two calls. Each change compares
// with the hash that the caller checked, so that a change in between is never overwritten.
import Domain
import Postgres

extension Store {
    /// Returns what a password is checked against: nil for an unknown name; no hash for accounts that sign in another
    /// way.
    package func credentials(of name: SignInName) async throws -> (user: UserID, passwordHash: String?)? {
        try await firstRow("account_credentials", name.parameters) { (UserID(try $0.uuid(0)), try $0.textOrNull(1)) }
    }

    /// Returns the case-folded username, or else the address, and the hash of an account that signs in by password; nil for
    /// any other.
    package func password(of user: UserID) async throws -> (name: String, hash: String)? {
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

// Forgotten passwords.
extension Store {
    /// Makes the code with this digest valid for 24 hours, in place of an earlier one. Returns when it expires. Throws
    /// `user_not_found`, `no_password`.
    package func createReset(of user: UserID, digest: [UInt8], by actor: AdminActor) async throws -> String {
        try await value("password_reset_create", actor.parameters + [.id(user), .bytes(digest)]) { try $0.text(0) }
    }

    /// Counts a try of the operator's code. Returns the account if the code is right.
    package func tryReset(of name: SignInName, digest: [UInt8]) async throws -> UserID? {
        try await value("password_reset_try", name.parameters + [.bytes(digest)]) {
            try $0.uuidOrNull(0).map { UserID($0) }
        }
    }

    /// Counts a try of a mailed code. Returns the key of the address, or of a name without one, and the hashes of its
    /// valid codes, at most `codeCountMax`.
    package func tryCode(of name: SignInName) async throws -> (key: String, hashes: [String]) {
        switch name {
        case .email(let address): (address.key, try await tryCode(address))
        case .username:
            try await row("password_code_attempt", [.text(orNull: name.usernameKey)]) {
                (try $0.text(0), try $0.texts(1))
            }
        }
    }

    /// Sets the password by the operator's code, ends all sessions of the account, and signs in. Returns nil if the code
    /// is no longer valid. Throws `account_suspended`.
    package func setPassword(
        of user: UserID, byReset digest: [UInt8], to newHash: String, session: NewSession
    ) async throws -> SignedIn? {
        try await firstRow(
            "password_set_by_reset",
            [.id(user), .bytes(digest), .text(newHash)] + session.parameters + [.int(session.accountCountMax)]
        ) { try $0.signedIn() }
    }

    /// Does the same by the mailed code with this hash.
    package func setPassword(
        byCodeTo key: String, hash: String, to newHash: String, session: NewSession
    ) async throws -> SignedIn? {
        try await firstRow(
            "password_set_by_code",
            [.text(key), .text(hash), .text(newHash)] + session.parameters + [.int(session.accountCountMax)]
        ) { try $0.signedIn() }
    }

    /// Deletes what has expired, at most `limit`. Returns how many.
    package func sweepResets(limit: Int) async throws -> Int {
        try await value("password_reset_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}

extension SignInName {
    /// The username's key and the address's, one of them null.
    fileprivate var parameters: [Parameter] { [.text(orNull: usernameKey), .text(orNull: emailKey)] }
}
