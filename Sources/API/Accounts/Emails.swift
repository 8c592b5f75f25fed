// The e-mail address of the caller's account. A mailed code proves that the address is the caller's.
import Credentials
import Domain
import Store

extension SignInCalls {
    var emailRoutes: [Route] {
        let path = "/v1/users/me/email"
        return [
            Route(.put, path, .putEmail, body: .small, .signedIn(putEmail)),
            Route(.post, path, .confirmEmail, body: .small, .signedIn(confirmEmail)),
            Route(.delete, path, .deleteEmail, .signedIn(deleteEmail)),
        ]
    }

    /// Queues the mail. An address of another account takes the same path: its owner is notified instead.
    private func putEmail(_ call: Call, _ identity: Identity) async throws -> Answer {
        let email = try await call.fields(Self.wantedEmail)
        guard let mailQueued else { throw Problem.mailNotConfigured }
        try await rates.mailCode(to: email, call)
        try await store.askForEmail(email, of: identity.user)
        mailQueued()
        return Answer(status: .accepted, headers: [:])
    }

    private static func wantedEmail(_ fields: inout Fields<JSONValue>) throws -> EmailAddress {
        let email = fields.required("email", EmailAddress.self)
        return try fields.values(email)
    }

    /// A code of the address, whatever it was mailed for, proves that the address is the caller's. Tries count as
    /// sign-ins by a code of the address.
    private func confirmEmail(_ call: Call, _ identity: Identity) async throws -> Answer {
        let code = try await call.fields(Self.typedCode)
        guard let email = try await store.wantedEmail(of: identity.user) else { throw Problem.wrongEmailCode }
        let attempt = SignInAttempt(way: .code, account: email.key, address: rates.address(of: call))
        let account = try await attempts.run(attempt) {
            let hashes = try await store.tryCode(email)
            let match = try await hasher.verify(
                code, againstAny: hashes, count: Store.codeCountMax, flow: attempt.flow)
            guard let match, let account = try await store.confirmEmail(email, hash: match, of: identity.user) else {
                throw Problem.wrongEmailCode
            }
            return account
        }
        // The owner of an earlier address is notified.
        mailQueued?()
        return .json(account)
    }

    private static func typedCode(_ fields: inout Fields<JSONValue>) throws -> String {
        let code = fields.required("code", GivenSecret.self)
        return OneTimeCode.typed(try fields.values(code).text)
    }

    private func deleteEmail(_ call: Call, _ identity: Identity) async throws -> Answer {
        try await store.deleteEmail(of: identity.user)
        mailQueued?()
        return .noContent
    }
}

extension Problem {
    /// Not 401, which would mean that the session has ended.
    fileprivate static let wrongEmailCode = Problem(
        .wrongCode, "The code is wrong or has expired. Request a new one with `PUT /v1/users/me/email`.")
}
