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

    /// Returns a page of all accounts, the newest first, or the one of a case-folded username.
    package func adminUsers(key: String?, _ request: PageRequest) async throws -> Page {
        try await reads.page("admin_user_list", [.text(orNull: key)], request)
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
