// Accounts come into being, people sign in and out.

extension Call {
    /// Registering, signing in and signing out.
    public static var auth: AuthCalls { AuthCalls() }
}

/// `Call.auth`.
public struct AuthCalls: Sendable {
    /// Creates an account with a password, and signs in. Some services need the code of an `invitation`.
    /// `POST /v1/auth/register`
    public func register(
        username: String, password: String, name: String, invitation: String? = nil, deviceName: String? = nil
    ) -> Call<SignedIn> {
        let body: JSONValue = .fields([
            "username": .string(username), "password": .string(password), "name": .string(name),
            "invitation": invitation.map { .string($0) }, "device_name": deviceName.map { .string($0) },
        ])
        return Call("POST", "v1", "auth", "register", body: body)
    }

    /// Creates an account with an e-mail address, once the mailed code is used. `POST /v1/auth/register`
    public func register(
        email: String, name: String, invitation: String? = nil, deviceName: String? = nil
    ) -> Call<Void> {
        let body: JSONValue = .fields([
            "email": .string(email), "name": .string(name), "invitation": invitation.map { .string($0) },
            "device_name": deviceName.map { .string($0) },
        ])
        return Call("POST", "v1", "auth", "register", body: body)
    }

    /// Mails a code, if the address can sign in. The answer does not say so. `POST /v1/auth/code`
    public func requestCode(email: String) -> Call<Void> {
        Call("POST", "v1", "auth", "code", body: ["email": .string(email)])
    }

    /// Signs in on this device. `POST /v1/auth/login`
    public func signIn(_ credentials: Credentials, deviceName: String? = nil) -> Call<SignedIn> {
        var body: JSONValue =
            switch credentials {
            case .password(let name, let password):
                [Self.field(of: name): .string(name), "password": .string(password)]
            case .code(let email, let code): ["email": .string(email), "code": .string(code)]
            case .delegated(let token): ["token": .string(token)]
            }
        body["device_name"] = deviceName.map { .string($0) }
        return Call("POST", "v1", "auth", "login", body: body)
    }

    /// Sets a forgotten password, and signs in on this device. All other devices are signed out. `name` is the username or
    /// the e-mail address, `code` a mailed code of the address, or the operator's code. `POST /v1/auth/password`
    public func setPassword(
        of name: String, code: String, to new: String, deviceName: String? = nil
    ) -> Call<SignedIn> {
        let body: JSONValue = .fields([
            Self.field(of: name): .string(name), "code": .string(code), "new": .string(new),
            "device_name": deviceName.map { .string($0) },
        ])
        return Call("POST", "v1", "auth", "password", body: body)
    }

    /// The field for a name: no username has an @.
    private static func field(of name: String) -> String { name.contains("@") ? "email" : "username" }

    /// Signs this device out. `POST /v1/auth/logout`
    public func signOut() -> Call<Void> { Call("POST", "v1", "auth", "logout") }
}
