// Registering and signing in by a code that is mailed. Which way a request wants is read in Auth.swift; the mails are sent
// by whoever runs the node.
import Credentials
import Domain
import Store

/// What a request for a code holds.
struct CodeRequest: Sendable {
    var email: EmailAddress
    /// Of the account that is made when the code is used, unless the address has one.
    var registration: MailedRegistration?
}

/// A code as somebody typed it.
struct CodeLogin: Sendable {
    var email: EmailAddress
    var code: String
    var device: DeviceName?

    /// Mail programs and people put spaces into it, and it is the digits that count.
    init(email: EmailAddress, code: String, device: DeviceName?) {
        self.email = email
        self.code = String(String.UnicodeScalarView(code.unicodeScalars.filter { !$0.properties.isWhitespace }))
        self.device = device
    }
}

extension API {
    /// Queues the mail. Known and unknown addresses take the same way through here and through the database.
    func mailCode(_ request: CodeRequest, _ call: Call) async throws -> Answer {
        guard let mailQueued else { throw Problem.mailNotConfigured }
        try await rates.mailCode(to: request.email, call)
        try await store.askForCode(request.email, registration: request.registration)
        mailQueued()
        return Answer(status: .accepted, headers: [:])
    }

    /// Wrong, used, too old, tried too often, never mailed: all take as long and answer the same.
    func logIn(_ given: CodeLogin, session: NewSession, lane: String) async throws -> SignedIn {
        let hashes = try await store.tryCode(given.email)
        let match = try await hasher.verify(given.code, againstAny: hashes, count: Store.codeCountMax, lane: lane)
        guard let match,
            let made = try await store.useCode(given.email, hash: match, user: .make(), session: session)
        else { throw Problem.wrongCode }
        return made
    }
}

extension Problem {
    fileprivate static let mailNotConfigured = Problem(
        .mailNotConfigured, "This service cannot send e-mail. Sign in another way.",
        retryAfterS: 3600)
    fileprivate static let wrongCode = Problem(
        .wrongCredentials, "The code is wrong or has expired. Request a new one.")
}
