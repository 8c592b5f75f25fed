// Passwords: checking them at sign-in, rehashing them at the current cost, changing them.
import Credentials
import Domain
import Store

extension SignInCalls {
    var passwordRoutes: [Route] {
        [Route(.put, "/v1/users/me/password", .changePassword, .signedIn(changePassword))]
    }

    /// Signs in with a username or an e-mail address, and the password. Unknown names, accounts without a password and
    /// wrong passwords take equally long and get the same answer.
    func logIn(_ given: PasswordLogin, session: NewSession, flow: String) async throws -> SignedIn {
        // A second attempt, if the stored hash changes between the check and the sign-in.
        for _ in 0..<2 {
            guard let (user, hash) = try await check(given, flow: flow) else { throw Problem.wrongPassword }
            let newHash = try await rehashed(given.password, from: hash, flow: flow)
            let made = try await store.signIn(user: user, passwordHash: hash, newHash: newHash, session: session)
            if let made { return made }
        }
        throw Problem.wrongPassword
    }

    /// The user of these credentials and the stored hash. Nil if they are wrong, after the same time as if they were
    /// right.
    private func check(_ given: PasswordLogin, flow: String) async throws -> (user: UserID, hash: String)? {
        guard let found = try await store.credentials(of: given.name), let hash = found.passwordHash else {
            try await hasher.dummyVerify(given.password, flow: flow)
            return nil
        }
        return try await hasher.verify(given.password, against: hash, flow: flow) ? (found.user, hash) : nil
    }

    /// A hash at the current cost, if the stored one has another cost. Nil otherwise, and if the hasher is busy: the
    /// next sign-in rehashes.
    private func rehashed(_ password: String, from hash: String, flow: String) async throws -> String? {
        guard hasher.needsRehash(hash) else { return nil }
        do {
            return try await hasher.hash(password, flow: flow)
        } catch CredentialsError.hasherBusy {
            return nil
        }
    }

    /// A wrong current password counts as a failed sign-in of the account, so a stolen session token does not help to
    /// guess it faster.
    private func changePassword(_ call: Call, _ identity: Identity) async throws -> Answer {
        let (current, new) = try await call.fields(Self.passwordChange)
        guard let (name, hash) = try await store.password(of: identity.user) else { throw Problem.noPassword }
        let attempt = SignInAttempt(way: .password, account: name, address: rates.address(of: call))
        let ended = try await attempts.run(attempt) {
            guard try await hasher.verify(current, against: hash, flow: attempt.flow) else {
                throw Problem.wrongCurrentPassword
            }
            let newHash = try await hasher.hash(new.text, flow: attempt.flow)
            let ended = try await store.changePassword(
                of: identity.user, but: identity.session, from: hash, to: newHash,
                limit: Limits.accountSessionCountCeiling)
            // Another call changed the password meanwhile, so the given one is no longer current.
            guard let ended else { throw Problem.wrongCurrentPassword }
            return ended
        }
        services.authenticator.revoke(ended)
        // Only an account from before the limit has more sessions than end with the password.
        if ended.count == Limits.accountSessionCountCeiling {
            try await SessionCalls(store: store, authenticator: services.authenticator).endOtherSessions(identity)
        }
        return .noContent
    }

    private static func passwordChange(
        _ fields: inout Fields<JSONValue>
    ) throws -> (current: String, new: Password) {
        let current = fields.required("current", GivenSecret.self)
        let new = fields.required("new", Password.self)
        let given = try fields.values(current, new)
        return (given.0.text, given.1)
    }
}

/// A name and a password as a person typed them.
struct PasswordLogin: Sendable {
    var name: SignInName
    var password: String
    var device: DeviceName?
}

extension Problem {
    fileprivate static let wrongPassword = Problem(
        .wrongCredentials, "The username, the address or the password is wrong.")
    /// Not 401, which would mean that the session has ended.
    fileprivate static let wrongCurrentPassword = Problem(
        .wrongPassword, "`current` is not the account's password.")
    fileprivate static let noPassword = Problem(
        .noPassword,
        "This account has no password. It signs in with mailed codes or tokens of the host app. With a mailed "
            + "code, `POST /v1/auth/password` gives it one.")
}
