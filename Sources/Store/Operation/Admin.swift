// Calls of administrators. Each change is recorded with its actor.
import Domain
import Postgres

/// The administrator who acts, by the name that they gave.
package struct AdminActor: Sendable {
    package var name: String
    /// It is nil for actions without a request.
    package var requestID: String?
    /// The key of the call. Nil for the admin token and the command line, which may do everything.
    package var key: AdminKey?

    package init(name: String, requestID: String?, key: AdminKey? = nil) {
        self.name = name
        self.requestID = requestID
        self.key = key
    }

    var parameters: [Parameter] { [.text(name), .text(orNull: requestID), .uuid(orNull: key?.id.uuid)] }
}

/// The accounts that an administrator looks for. Nil for any.
package struct UserFilters: Sendable {
    package var username: Username?
    package var externalID: ExternalID?
    package var email: EmailAddress?
    /// The beginning of a word of the name, or of the username. Case-folded.
    package var prefix: String?

    package init(
        username: Username? = nil, externalID: ExternalID? = nil, email: EmailAddress? = nil, prefix: String? = nil
    ) {
        self.username = username
        self.externalID = externalID
        self.email = email
        self.prefix = prefix
    }
}

extension Store {
    /// Creates an account without a session. `key` and `words` are case-folded. Throws `username_taken`.
    package func createUser(
        _ user: UserID, username: String?, key: String?, name: String, words: [String], passwordHash: String?,
        isBot: Bool = false, by actor: AdminActor, once: IdempotentRequest? = nil
    ) async throws -> JSONText {
        try await create(
            Creation("admin_user_create"), once: once,
            actor.parameters + [
                .id(user), .text(orNull: username), .text(orNull: key), .text(name), .texts(words),
                .text(orNull: passwordHash), .bool(isBot),
            ]
        ).body
    }

    /// Returns an account with what only administrators see. Throws `user_not_found`.
    package func adminUser(_ user: UserID) async throws -> JSONText {
        try await reads.json("admin_user_get", [.id(user)])
    }

    /// Returns a page of the accounts that fit the filters, the newest first.
    package func adminUsers(_ filters: UserFilters, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            "admin_user_list",
            [
                .text(orNull: filters.username?.key), .text(orNull: filters.externalID?.text),
                .text(orNull: filters.email?.key), .text(orNull: filters.prefix),
            ], request)
    }

    /// Creates the account with an external id, or changes an account. `user` is the id of a new account, and without an
    /// external id that of the account. Throws `user_not_found`, `username_taken`, `email_taken`.
    package func putUser(
        _ user: UserID, _ externalID: ExternalID?, changes: JSONText, defaultName: String, words: [String],
        isBot: Bool?, by actor: AdminActor
    ) async throws -> (created: Bool, user: JSONText) {
        try await row(
            "admin_user_put",
            actor.parameters + [
                .id(user), .text(orNull: externalID?.text), .text(defaultName), .json(changes), .texts(words),
                .bool(orNull: isBot),
            ]
        ) { (try $0.bool(0), try $0.json(1)) }
    }

    /// Returns what an account has unread. Throws `user_not_found`.
    package func unread(of user: UserID) async throws -> JSONText {
        try await reads.json("admin_user_unread", [.id(user)])
    }

    /// Suspends an account, or ends its suspension. Returns the sessions that ended. Throws `user_not_found`.
    package func suspend(_ user: UserID, isSuspended: Bool, by actor: AdminActor) async throws -> [SessionID] {
        try await value("admin_user_suspend", actor.parameters + [.id(user), .bool(isSuspended)]) { row in
            try row.uuids(0).map { SessionID($0) }
        }
    }

    /// As `eraseAccount`.
    package func eraseUser(_ user: UserID, erasesMessages: Bool, by actor: AdminActor) async throws -> [SessionID] {
        try await value("admin_user_erase", actor.parameters + [.id(user), .bool(erasesMessages)]) { row in
            try row.uuids(0).map { SessionID($0) }
        }
    }

    /// Signs a user in. Throws `user_not_found`, `account_suspended`.
    package func issueSession(
        _ session: NewSession, for user: UserID, by actor: AdminActor
    ) async throws -> SignedIn {
        try await row(
            "admin_session_create",
            actor.parameters + [.id(user)] + session.parameters + [.int(session.accountCountMax)]
        ) { try $0.signedIn() }
    }

    package func adminThread(_ thread: ThreadID) async throws -> JSONText {
        try await reads.json("admin_thread_get", [.id(thread)])
    }

    /// Removes a message for everyone.
    package func removeMessage(_ message: MessageID, in thread: ThreadID, by actor: AdminActor) async throws {
        try await call("admin_message_delete", actor.parameters + [.id(thread), .id(message)])
    }

    package func stats() async throws -> JSONText {
        try await reads.json("admin_stats", [])
    }

    /// Returns a page of the record of changes, the latest first.
    package func audit(_ request: PageRequest) async throws -> Page {
        try await reads.page("audit_list", [], request)
    }
}
