// Registering and signing in with a mailed code. Service sends the mails.
import Credentials
import Domain
import Store

/// A request for a code.
struct CodeRequest: Sendable {
    var email: EmailAddress
    /// The account that is created when the code is used, unless the address has an account.
    var registration: MailedRegistration?
    /// The code of an invitation to register.
    var invitation: String?
}

/// A code as a person typed it.
struct CodeLogin: Sendable {
    var email: EmailAddress
    var code: String
    var device: DeviceName?

    init(email: EmailAddress, code: String, device: DeviceName?) {
        self.email = email
        self.code = OneTimeCode.typed(code)
        self.device = device
    }
}

extension SignInCalls {
    /// Queues the mail. Known and unknown addresses take the same path here and in the database.
    func mailCode(_ request: CodeRequest, _ call: Call) async throws -> Answer {
        guard let mailQueued else { throw Problem.mailNotConfigured }
        try await rates.mailCode(to: request.email, call)
        var registration = request.registration
        if registration != nil { registration?.invitation = try await invitation(request.invitation) }
        try await store.askForCode(request.email, registration: registration)
        mailQueued()
        return Answer(status: .accepted, headers: [:])
    }

    /// Codes that are wrong, used, expired, tried too often or never mailed take equally long and get the same answer.
    func logIn(_ given: CodeLogin, session: NewSession, flow: String) async throws -> SignedIn {
        let hashes = try await store.tryCode(given.email)
        let match = try await hasher.verify(given.code, againstAny: hashes, count: Store.codeCountMax, flow: flow)
        guard let match,
            let made = try await store.useCode(
                given.email, hash: match, user: .make(), session: session, registration)
        else { throw Problem.wrongCode }
        return made
    }
}

extension Problem {
    static let mailNotConfigured = Problem(
        .mailNotConfigured, "This service cannot send e-mail. Sign in another way.",
        retryAfterS: 3600)
    static let wrongCode = Problem(
        .wrongCredentials, "The code is wrong or has expired. Request a new one.")
}
