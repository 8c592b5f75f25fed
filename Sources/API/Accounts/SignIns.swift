// Registering and signing in.
import Credentials
import Domain
import HTTPTypes
import Store
import Telemetry

/// The calls of people who have no session yet. MailedCodes.swift, DelegatedSignIns.swift and Passwords.swift have the
/// ways to sign in.
package struct SignInCalls: Sendable {
    let services: CallServices
    let registration: RegistrationRule
    let hasher: PasswordHasher
    let delegation: Delegation?
    let mailQueued: (@Sendable () -> Void)?
    let attempts: SignInLimits
    var store: Store { services.store }
    var rates: RateLimits { services.rates }

    /// - Parameters:
    ///   - registration: who may create an account.
    ///   - delegation: how tokens of the host app are checked. Nil accepts none.
    ///   - mailQueued: called when a mail is ready to be sent. Nil if the service cannot send mail.
    package init(
        _ services: CallServices, registration: RegistrationRule, hasher: PasswordHasher, delegation: Delegation?,
        mailQueued: (@Sendable () -> Void)?
    ) {
        self.services = services
        self.registration = registration
        self.hasher = hasher
        self.delegation = delegation
        self.mailQueued = mailQueued
        attempts = SignInLimits(rates: services.rates, limits: services.limits, logger: services.logger)
    }

    @Sendable package func writeMetrics(to text: inout MetricsText) { attempts.write(to: &text) }

    package var routes: [Route] {
        passwordRoutes + forgottenPasswordRoutes + emailRoutes + [
            Route(.post, "/v1/auth/register", .register, body: .small, .open(register)),
            Route(.post, "/v1/auth/code", .requestCode, body: .small, repeats: .ignored, .open(requestCode)),
            Route(.post, "/v1/auth/login", .login, body: .small, .open(login)),
        ]
    }

    private func register(_ call: Call) async throws -> Answer {
        // Before anything is looked up, so that nobody learns which names are in use.
        if registration == .closed { throw Problem.registrationClosed }
        let given: PasswordRegistration
        switch try await call.fields(Self.newAccount) {
        case .mailed(let request): return try await mailCode(request, call)
        case .password(let registration): given = registration
        }
        try rates.register(call)
        let invitation = try await self.invitation(given.invitation)
        let hash = try await hasher.hash(given.password.text, flow: rates.address(of: call).flow)
        let (session, token) = NewSession.make(given.device, services.limits)
        let made = try await store.register(
            user: .make(), username: given.username.text, key: given.username.key, name: given.name.text,
            words: given.name.directoryWords(with: given.username), passwordHash: hash, session: session,
            invitation: invitation)
        return services.authenticator.signedIn(made, token, status: .created)
    }

    private func requestCode(_ call: Call) async throws -> Answer {
        try await mailCode(call.fields(Self.codeRequest), call)
    }

    private func login(_ call: Call) async throws -> Answer {
        let address = rates.address(of: call)
        switch try await call.fields(Self.login) {
        case .code(let given):
            let (session, token) = NewSession.make(given.device, services.limits)
            let attempt = SignInAttempt(way: .code, account: given.email.key, address: address)
            let made = try await attempts.run(attempt) { try await logIn(given, session: session, flow: attempt.flow) }
            return services.authenticator.signedIn(made, token)
        case .password(let given):
            let (session, token) = NewSession.make(given.device, services.limits)
            let attempt = SignInAttempt(way: .password, account: given.name.key, address: address)
            let made = try await attempts.run(attempt) { try await logIn(given, session: session, flow: attempt.flow) }
            return services.authenticator.signedIn(made, token)
        case .token(let text, let device):
            let (session, token) = NewSession.make(device, services.limits)
            let attempt = SignInAttempt(way: .token, account: nil, address: address)
            let made = try await attempts.run(attempt) { try await logIn(byToken: text, session: session) }
            return services.authenticator.signedIn(made, token)
        }
    }

    /// The method of a sign-in, with its credentials.
    private enum Login {
        case password(PasswordLogin)
        case code(CodeLogin)
        case token(String, DeviceName?)
    }

    private static func login(_ fields: inout Fields<JSONValue>) throws -> Login {
        let device = fields.optional("device_name", DeviceName.self)
        if fields.has("token") {
            fields.refuseMixing("token", with: ["username", "password", "email", "code"])
            let token = fields.required("token", GivenSecret.self)
            return .token(try fields.values(token).text, device)
        }
        if fields.has("code") || fields.has("email") && !fields.has("password") {
            fields.refuseMixing("code", with: ["username", "password"])
            let email = fields.required("email", EmailAddress.self)
            let code = fields.required("code", GivenSecret.self)
            let given = try fields.values(email, code)
            return .code(CodeLogin(email: given.0, code: given.1.text, device: device))
        }
        let name = fields.signInName()
        let password = fields.required("password", GivenSecret.self)
        let given = try fields.values(name, password)
        return .password(PasswordLogin(name: given.0, password: given.1.text, device: device))
    }

    private struct PasswordRegistration: Sendable {
        var username: Username
        var password: Password
        var name: DisplayName
        var device: DeviceName?
        /// The code of an invitation.
        var invitation: String?
    }

    private enum Registration: Sendable {
        case password(PasswordRegistration)
        case mailed(CodeRequest)
    }

    private static func newAccount(_ fields: inout Fields<JSONValue>) throws -> Registration {
        let device = fields.optional("device_name", DeviceName.self)
        let name = fields.required("name", DisplayName.self)
        let invitation = fields.optional("invitation", GivenSecret.self)?.text
        if fields.has("email") {
            fields.refuseMixing("email", with: ["username", "password"])
            let email = fields.required("email", EmailAddress.self)
            let given = try fields.values(email, name)
            let registration = MailedRegistration(name: given.1, device: device)
            return .mailed(CodeRequest(email: given.0, registration: registration, invitation: invitation))
        }
        let username = fields.required("username") { json throws(Invalid) in try Username.chosen(json) }
        let password = fields.required("password", Password.self)
        let given = try fields.values(username, password, name)
        return .password(
            PasswordRegistration(
                username: given.0, password: given.1, name: given.2, device: device, invitation: invitation))
    }

    private static func codeRequest(_ fields: inout Fields<JSONValue>) throws -> CodeRequest {
        let email = fields.required("email", EmailAddress.self)
        return CodeRequest(email: try fields.values(email), registration: nil)
    }
}

extension Authenticator {
    /// The answer to a sign-in. Sessions that made room end at once on this node, and on other nodes when they read the
    /// event in the log.
    func signedIn(_ made: SignedIn, _ token: SessionToken, status: HTTPResponse.Status = .ok) -> Answer {
        revoke(made.ended)
        return .json(.signedIn(made, token), status: status)
    }
}

extension Problem {
    fileprivate static let registrationClosed = Problem(
        .registrationClosed, "This service does not let people register. Ask its operator for an account.")
}

extension NewSession {
    /// A new session, and its token, which the client receives only once.
    package static func make(_ device: DeviceName?, _ limits: Limits) -> (NewSession, token: SessionToken) {
        let token = SessionToken.random()
        let session = NewSession(
            id: .make(), digest: token.digest, deviceName: device?.text,
            accountCountMax: limits.accountSessionCountMax)
        return (session, token)
    }
}

/// A text to compare, without rules for its content: a password that is too short is just wrong.
struct GivenSecret: TextField {
    private static let byteCountMax = 8 * 1024
    let text: String

    init(text: String) throws(Invalid) {
        guard text.utf8.count <= Self.byteCountMax else {
            throw Invalid("Must have at most \(Self.byteCountMax) bytes.")
        }
        self.text = text
    }
}

extension Fields where Raw == JSONValue {
    /// Refuses fields of another sign-in method.
    mutating func refuseMixing(_ name: String, with others: [String]) {
        for other in others where has(other) {
            _ = given(other) { _ throws(Invalid) in throw Invalid("Cannot be combined with `\(name)`.") }
        }
    }
}

extension JSONText {
    /// `{user, session}`. The session includes its token.
    package static func signedIn(_ account: SignedIn, _ token: SessionToken) -> JSONText {
        var writer = JSONWriter(reserving: account.user.utf8.count + account.session.utf8.count + 128)
        writer.raw("{\"user\":")
        writer.raw(account.user)
        writer.raw(",\"session\":")
        writer.raw(account.session.adding("token", token.text))
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }
}
