// Calls of administrators. Each change is recorded with its actor.
import Domain
import Postgres

/// The administrator who acts, by the name that they gave.
package struct AdminActor: Sendable {
    package var name: String
    /// It is nil for actions without a request.
    package var requestID: String?

    package init(name: String, requestID: String?) {
        self.name = name
        self.requestID = requestID
    }

    var parameters: [Parameter] { [.text(name), .text(orNull: requestID)] }
}

extension Store {
    /// Creates an account without a session. `key` and `words` are case-folded. Throws `username_taken`.
    package func createUser(
        _ user: UserID, username: String?, key: String?, name: String, words: [String], passwordHash: String?,
        isBot: Bool = false, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            Statement("admin_user_create", "select admin_user_create($1, $2, $3, $4, $5, $6, $7, $8, $9)"),
            actor.parameters + [
                .id(user), .text(orNull: username), .text(orNull: key), .text(name), .texts(words),
                .text(orNull: passwordHash), .bool(isBot),
            ])
    }

    /// Returns an account with what only administrators see. Throws `user_not_found`.
    package func adminUser(_ user: UserID) async throws -> JSONText {
        try await reads.json(Statement("admin_user_get", "select admin_user_get($1)"), [.id(user)])
    }

    /// Returns a page of all accounts, the newest first, or the one of a case-folded username.
    package func adminUsers(key: String?, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("admin_user_list", "select * from admin_user_list($1, $2, $3, $4)"), [.text(orNull: key)],
            request)
    }

    /// Suspends an account, or ends its suspension. Returns the sessions that ended. Throws `user_not_found`.
    package func suspend(_ user: UserID, isSuspended: Bool, by actor: AdminActor) async throws -> [SessionID] {
        let row = try await row(
            Statement("admin_user_suspend", "select admin_user_suspend($1, $2, $3, $4)"),
            actor.parameters + [.id(user), .bool(isSuspended)])
        return try await decoded { try row.uuids(0).map { SessionID($0) } }
    }

    /// As `eraseAccount`.
    package func eraseUser(_ user: UserID, erasesMessages: Bool, by actor: AdminActor) async throws -> [SessionID] {
        let row = try await row(
            Statement("admin_user_erase", "select admin_user_erase($1, $2, $3, $4)"),
            actor.parameters + [.id(user), .bool(erasesMessages)])
        return try await decoded { try row.uuids(0).map { SessionID($0) } }
    }

    /// Signs a user in. Throws `user_not_found`, `account_suspended`.
    package func issueSession(
        _ session: NewSession, for user: UserID, by actor: AdminActor
    ) async throws -> SignedIn {
        let row = try await row(
            Statement("admin_session_create", "select * from admin_session_create($1, $2, $3, $4, $5, $6, $7)"),
            actor.parameters + [.id(user)] + session.parameters + [.int4(Int32(session.accountCountMax))])
        return try await decoded { try row.signedIn() }
    }

    package func adminThread(_ thread: ThreadID) async throws -> JSONText {
        try await reads.json(Statement("admin_thread_get", "select admin_thread_get($1)"), [.id(thread)])
    }

    /// Removes a message for everyone.
    package func removeMessage(_ message: MessageID, in thread: ThreadID, by actor: AdminActor) async throws {
        _ = try await rows(
            Statement("admin_message_delete", "select admin_message_delete($1, $2, $3, $4)"),
            actor.parameters + [.id(thread), .id(message)])
    }

    package func stats() async throws -> JSONText {
        try await reads.json(Statement("admin_stats", "select admin_stats()"), [])
    }

    /// Returns a page of the record of changes, the latest first.
    package func audit(_ request: PageRequest) async throws -> Page {
        try await reads.page(Statement("audit_list", "select * from audit_list($1, $2, $3)"), [], request)
    }
}
