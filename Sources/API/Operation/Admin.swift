// /v1/admin: calls for the operator and for programs with keys.
import Credentials
import Domain
import HTTPTypes
import Store

struct AdminCalls: Sendable {
    let store: Store
    let authenticator: Authenticator
    let hasher: PasswordHasher
    let limits: Limits
    /// Asks the policy about messages.
    let messages: MessageCalls

    var routes: [Route] {
        let (users, user) = ("/v1/admin/users", "/v1/admin/users/{user_id}")
        return [
            Route(.post, users, .adminCreateUser, repeats: .kept, .admin(.usersWrite, createUser)),
            Route(.get, users, .adminListUsers, query: .read, .admin(.usersRead, listUsers)),
            Route(.get, user, .adminGetUser, .admin(.usersRead, getUser)),
            Route(.put, user, .adminPutUser, body: .small, .admin(.usersWrite, putUser)),
            Route(.get, user + "/unread", .adminGetUnread, .admin(.usersRead, getUnread)),
            Route(.delete, user, .adminEraseUser, query: .read, .admin(.usersWrite, eraseUser)),
            Route(.put, user + "/suspension", .adminSuspendUser, body: .small, .admin(.moderation, suspend)),
            Route(.delete, user + "/suspension", .adminUnsuspendUser, .admin(.moderation, unsuspend)),
            Route(.post, user + "/sessions", .adminCreateSession, body: .small, .admin(.usersSignIn, createSession)),
            Route(
                .post, user + "/password-reset", .adminResetPassword, body: .small,
                .admin(.usersSignIn, resetPassword)),
            Route(.get, "/v1/admin/stats", .adminGetStats, .admin(.audit) { _, _ in .json(try await store.stats()) }),
            Route(.get, "/v1/admin/audit", .adminListAudit, query: .read, .adminList(.audit, "entries", store.audit)),
        ] + threadRoutes + messageRoutes
    }

    private func createUser(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let new = try await call.fields { fields in try NewUser(&fields) }
        var hash: String?
        if let password = new.password { hash = try await hasher.hash(password.text, flow: "admin") }
        let user = try await store.createUser(
            .make(), username: new.username?.text, key: new.username?.key, name: new.name.text,
            words: new.name.directoryWords(with: new.username), passwordHash: hash, isBot: new.kind == .bot, by: actor,
            once: call.once)
        return .json(user, status: .created)
    }

    private func listUsers(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let (filters, request) = try Self.userQuery(call.query)
        return .list("users", try await store.adminUsers(filters, request), limit: request.limit)
    }

    private static func userQuery(_ query: Fields<String>) throws -> (UserFilters, PageRequest) {
        var query = query
        let request = query.pageRequest()
        var filters = UserFilters()
        filters.username = query.optional("username", Username.self)
        filters.externalID = query.optional("external_id", ExternalID.self)
        filters.email = query.optional("email", EmailAddress.self)
        filters.prefix = query.optional("query", SearchPrefix.self)?.text
        try query.end()
        return (filters, request)
    }

    private func getUser(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        .json(try await store.adminUser(store.user(of: call)))
    }

    private func eraseUser(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let user = try await store.user(of: call)
        authenticator.revoke(
            try await store.eraseUser(user, erasesMessages: ErasureCalls.fate(call.query) == .erase, by: actor))
        return .noContent
    }

    private func suspend(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let user = try await store.user(of: call)
        try await call.noFields()
        authenticator.revoke(try await store.suspend(user, isSuspended: true, by: actor))
        return .noContent
    }

    private func unsuspend(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        authenticator.revoke(
            try await store.suspend(store.user(of: call), isSuspended: false, by: actor))
        return .noContent
    }

    private func createSession(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let user = try await store.user(of: call)
        let device = try await call.fields(isOptional: true) { fields in
            let device = fields.optional("device_name", DeviceName.self)
            try fields.end()
            return device
        }
        let (session, token) = NewSession.make(device, limits)
        return authenticator.signedIn(
            try await store.issueSession(session, for: user, by: actor), token, status: .created)
    }
}

extension AdminCalls {
    private func resetPassword(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let user = try await store.user(of: call)
        try await call.noFields()
        return .json(try await store.resetPassword(of: user, by: actor), status: .created)
    }
}

extension Store {
    /// Creates a code that sets the user's password (`POST /v1/auth/password`). Returns `{code, expires_at}`.
    package func resetPassword(of user: UserID, by actor: AdminActor) async throws -> JSONText {
        let code = ResetCode.random()
        let expiresAt = try await createReset(of: user, digest: code.digest, by: actor)
        return JSONText(.object([.init("code", .string(code.text)), .init("expires_at", .string(expiresAt))]))
    }
}

/// An account that the operator creates.
private struct NewUser: Sendable {
    var username: Username?
    var name: DisplayName
    var password: Password?
    var kind: AccountKind

    init(_ fields: inout Fields<JSONValue>) throws {
        kind = fields.optional("kind", AccountKind.self) ?? .person
        username = fields.optional("username", Username.self)
        password = fields.optional("password", Password.self)
        if password != nil, username == nil, !fields.isRefused("username") {
            fields.refuse("username", "Is required with `password`.")
        }
        if password != nil, kind == .bot {
            fields.refuse("password", "Must be absent: a bot signs in by the sessions that you issue.")
        }
        let name = fields.required("name", DisplayName.self)
        self.name = try fields.values(name)
    }
}

extension AdminActor {
    /// - Parameter name: the value of `Parley-Actor`.
    init(_ name: String?, requestID: String, key: AdminKey?) throws(Problem) {
        let name = name ?? key?.name ?? "admin"
        guard name.unicodeScalars.count <= 128, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw .invalid("Parley-Actor", "Must have at most 128 characters and no control characters.")
        }
        self.init(name: name, requestID: requestID, key: key)
    }
}

extension HTTPField.Name {
    /// The person or program that acts, for the audit log.
    static let parleyActor = Self("Parley-Actor")!
}
