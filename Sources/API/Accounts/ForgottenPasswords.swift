// Setting a forgotten password, by a mailed code or by the operator's.
import Credentials
import Domain
import Store

extension SignInCalls {
    var forgottenPasswordRoutes: [Route] {
        [Route(.post, "/v1/auth/password", .setPassword, body: .small, .open(setPassword))]
    }

    /// Sets the password and signs in. Unknown names, and codes that are wrong, used, expired or tried too often, get the
    /// same answer after the same time.
    private func setPassword(_ call: Call) async throws -> Answer {
        let given = try await call.fields(Self.newPassword)
        let (session, token) = NewSession.make(given.device, services.limits)
        let attempt = SignInAttempt(way: .code, account: given.name.key, address: rates.address(of: call))
        let made = try await attempts.run(attempt) {
            // The form decides which code it is, and not what exists.
            if let code = ResetCode(parsing: given.code) {
                return try await setPassword(given, code, session: session, flow: attempt.flow)
            }
            return try await setPasswordByMail(given, session: session, flow: attempt.flow)
        }
        return services.authenticator.signedIn(made, token)
    }

    private func setPassword(
        _ given: NewPassword, _ code: ResetCode, session: NewSession, flow: String
    ) async throws -> SignedIn {
        guard let user = try await store.tryReset(of: given.name, digest: code.digest) else { throw Problem.wrongCode }
        let hash = try await hasher.hash(given.new.text, flow: flow)
        let made = try await store.setPassword(of: user, byReset: code.digest, to: hash, session: session)
        guard let made else { throw Problem.wrongCode }
        return made
    }

    private func setPasswordByMail(
        _ given: NewPassword, session: NewSession, flow: String
    ) async throws -> SignedIn {
        let (key, hashes) = try await store.tryCode(of: given.name)
        let match = try await hasher.verify(
            OneTimeCode.typed(given.code), againstAny: hashes, count: Store.codeCountMax, flow: flow)
        guard let match else { throw Problem.wrongCode }
        let hash = try await hasher.hash(given.new.text, flow: flow)
        let made = try await store.setPassword(byCodeTo: key, hash: match, to: hash, session: session)
        guard let made else { throw Problem.wrongCode }
        return made
    }

    private struct NewPassword: Sendable {
        var name: SignInName
        var code: String
        var new: Password
        var device: DeviceName?
    }

    private static func newPassword(_ fields: inout Fields<JSONValue>) throws -> NewPassword {
        let device = fields.optional("device_name", DeviceName.self)
        let name = fields.signInName()
        let code = fields.required("code", GivenSecret.self)
        let new = fields.required("new", Password.self)
        let given = try fields.values(name, code, new)
        return NewPassword(name: given.0, code: given.1.text, new: given.2, device: device)
    }
}

extension Fields where Raw == JSONValue {
    /// The field `email`, or else `username`: the name of an account that signs in by password.
    mutating func signInName() -> SignInName? {
        if has("email") {
            refuseMixing("email", with: ["username"])
            return required("email", EmailAddress.self).map { .email($0) }
        }
        return required("username", GivenSecret.self).map { .username($0.text) }
    }
}
