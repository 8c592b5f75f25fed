// Signing up, in and out. Sessions as a list are in Sessions.swift; who is asking is found in Authenticator.swift.
import Credentials
import Domain
import HTTPTypes
import Store

extension API {
    var authRoutes: [Route] {
        [
            Route(.post, "/v1/auth/register", .register, body: .small, .open(register)),
            Route(.post, "/v1/auth/code", .requestCode, body: .small, .open(requestCode)),
            Route(.post, "/v1/auth/login", .login, body: .small, .open(login)),
            Route(.post, "/v1/auth/logout", .logout, body: .unneeded, .signedIn(logout)),
        ]
    }

    private func register(_ call: Call) async throws -> Answer {
        let given: PasswordRegistration
        switch try await call.fields(Self.registration) {
        case .mailed(let request): return try await mailCode(request, call)
        case .password(let registration): given = registration
        }
        try rates.register(call)
        let hash = try await hasher.hash(given.password.text, lane: rates.address(of: call).lane)
        let (session, token) = NewSession.make(given.device, limits)
        let made = try await store.register(
            user: .make(), username: given.username.text, key: given.username.key, name: given.name.text,
            words: given.name.directoryWords(with: given.username), passwordHash: hash, session: session)
        return signedIn(made, token, status: .created)
    }

    private func requestCode(_ call: Call) async throws -> Answer {
        try await mailCode(call.fields(Self.codeRequest), call)
    }

    private func login(_ call: Call) async throws -> Answer {
        let address = rates.address(of: call)
        switch try await call.fields(Self.login) {
        case .code(let given):
            let (session, token) = NewSession.make(given.device, limits)
            let attempt = SignInAttempt(way: .code, account: given.email.key, address: address)
            let made = try await signIns.run(attempt) { try await logIn(given, session: session, lane: attempt.lane) }
            return signedIn(made, token)
        case .password(let given):
            let (session, token) = NewSession.make(given.device, limits)
            let attempt = SignInAttempt(way: .password, account: given.username.lowercased(), address: address)
            let made = try await signIns.run(attempt) { try await logIn(given, session: session, lane: attempt.lane) }
            return signedIn(made, token)
        case .token(let text, let device):
            let (session, token) = NewSession.make(device, limits)
            let attempt = SignInAttempt(way: .token, account: nil, address: address)
            let made = try await signIns.run(attempt) { try await logIn(byToken: text, session: session) }
            return signedIn(made, token)
        }
    }

    /// The answer to who has signed in. Sessions that made way are dead on this node at once, on the others when they read of
    /// it in the log.
    func signedIn(_ made: SignedIn, _ token: SessionToken, status: HTTPResponse.Status = .ok) -> Answer {
        forget(made.ended)
        return .json(.signedIn(made, token), status: status)
    }

    /// One way to sign in, as it was asked for.
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
        if fields.has("email") || fields.has("code") {
            fields.refuseMixing("email", with: ["username", "password"])
            let email = fields.required("email", EmailAddress.self)
            let code = fields.required("code", GivenSecret.self)
            let given = try fields.values(email, code)
            return .code(CodeLogin(email: given.0, code: given.1.text, device: device))
        }
        let username = fields.required("username", GivenSecret.self)
        let password = fields.required("password", GivenSecret.self)
        let given = try fields.values(username, password)
        return .password(PasswordLogin(username: given.0.text, password: given.1.text, device: device))
    }

    private struct PasswordRegistration: Sendable {
        var username: Username
        var password: Password
        var name: DisplayName
        var device: DeviceName?
    }

    private enum Registration: Sendable {
        case password(PasswordRegistration)
        case mailed(CodeRequest)
    }

    private static func registration(_ fields: inout Fields<JSONValue>) throws -> Registration {
        let device = fields.optional("device_name", DeviceName.self)
        let name = fields.required("name", DisplayName.self)
        if fields.has("email") {
            fields.refuseMixing("email", with: ["username", "password"])
            let email = fields.required("email", EmailAddress.self)
            let given = try fields.values(email, name)
            let registration = MailedRegistration(name: given.1, device: device)
            return .mailed(CodeRequest(email: given.0, registration: registration))
        }
        let username = fields.required("username") { json throws(Invalid) in try Username.chosen(json) }
        let password = fields.required("password", Password.self)
        let given = try fields.values(username, password, name)
        return .password(
            PasswordRegistration(username: given.0, password: given.1, name: given.2, device: device))
    }

    private static func codeRequest(_ fields: inout Fields<JSONValue>) throws -> CodeRequest {
        let email = fields.required("email", EmailAddress.self)
        return CodeRequest(email: try fields.values(email), registration: nil)
    }

    private func logout(_ call: Call, _ identity: Identity) async throws -> Answer {
        do {
            try await signOut(identity.session, of: identity.user)
        } catch let problem as Problem where problem.code == .sessionNotFound {
            // Signed out by another device meanwhile: what was wanted is so.
        }
        return .noContent
    }

    /// Ends a session: on this node at once, on the others when they read of it in the log.
    func signOut(_ session: SessionID, of user: UserID) async throws {
        try await store.deleteSession(session, of: user)
        forget([session])
    }
}

extension NewSession {
    /// A new session and the token that the client gets, once.
    package static func make(_ device: DeviceName?, _ limits: Limits) -> (NewSession, token: SessionToken) {
        let token = SessionToken.random()
        let session = NewSession(
            id: .make(), digest: token.digest, deviceName: device?.text,
            accountCountMax: limits.accountSessionCountMax)
        return (session, token)
    }
}

/// Something to be compared and not judged: too short a password is as wrong as any other.
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
    /// Fields of one way to sign in don't go with those of another.
    fileprivate mutating func refuseMixing(_ name: String, with others: [String]) {
        for other in others where has(other) {
            _ = given(other) { _ throws(Invalid) in throw Invalid("Cannot be combined with `\(name)`.") }
        }
    }
}

extension JSONText {
    /// `{user, session}`, the session with its token.
    package static func signedIn(_ account: SignedIn, _ token: SessionToken) -> JSONText {
        var writer = JSONWriter(reserving: account.user.utf8.count + account.session.utf8.count + 128)
        writer.raw("{\"user\":")
        writer.raw(account.user)
        writer.raw(",\"session\":{\"token\":")
        writer.write(token.text)
        writer.raw(",")
        // The database gives an object with members: what follows its brace goes on from here.
        writer.raw(JSONText(utf8: Array(account.session.utf8.dropFirst())))
        writer.raw("}")
        return JSONText(utf8: writer.utf8)
    }
}
