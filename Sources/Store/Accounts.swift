// Accounts and sessions.
import Domain
import Postgres

/// A session to be made: a device. Only the token's SHA-256 goes to the database.
package struct NewSession: Sendable {
    package var id: SessionID
    package var digest: [UInt8]
    package var deviceName: String?
    /// How many sessions the account may have, this one included; the one unused for longest makes way.
    package var accountCountMax: Int

    package init(id: SessionID, digest: [UInt8], deviceName: String?, accountCountMax: Int) {
        self.id = id
        self.digest = digest
        self.deviceName = deviceName
        self.accountCountMax = accountCountMax
    }

    var parameters: [Parameter] { [.id(id), .bytes(digest), .text(orNull: deviceName)] }
}

/// An account that has just been signed in to.
package struct SignedIn: Sendable {
    package var user: JSONText
    package var session: JSONText
    /// Sessions that made way: dead from now on.
    package var ended: [SessionID] = []
}

extension Row {
    /// The columns (account, session, ended).
    func signedIn() throws -> SignedIn {
        SignedIn(user: try json(0), session: try json(1), ended: try uuids(2).map { SessionID($0) })
    }
}

/// A session as found by its token's digest, and where in the log the database was read: what the log says after that
/// position comes on top.
package struct FoundSession: Sendable {
    package var identity: Identity
    package var position: Position
}

extension Store {
    /// Makes an account that signs in by password, and its first session. `key` and `words` are case-folded.
    /// Throws `username_taken`.
    package func register(
        user: UserID, username: String, key: String, name: String, words: [String], passwordHash: String,
        session: NewSession
    ) async throws -> SignedIn {
        let row = try await row(
            Statement("account_register", "select * from account_register($1, $2, $3, $4, $5, $6, $7, $8, $9)"),
            [.id(user), .text(username), .text(key), .text(name), .texts(words), .text(passwordHash)]
                + session.parameters)
        return try await decoded { SignedIn(user: try row.json(0), session: try row.json(1)) }
    }

    /// Signs in whom a token of the host app's is about, with the profile that it brings. Makes the account at first use,
    /// as `user`, under `nameOrElse` if the token brings none.
    package func delegate(
        _ externalID: ExternalID, user: UserID, name: DisplayName?, nameOrElse: String, picture: ImageURL?,
        session: NewSession
    ) async throws -> SignedIn {
        let words = name?.directoryWords(with: nil) ?? nameOrElse.words
        let row = try await row(
            Statement("account_delegate", "select * from account_delegate($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
            [
                .text(externalID.text), .id(user), .text(orNull: name?.text), .text(nameOrElse), .texts(words),
                .text(orNull: picture?.text),
            ] + session.parameters + [.int4(Int32(session.accountCountMax))])
        return try await decoded { try row.signedIn() }
    }

    package func account(_ user: UserID) async throws -> JSONText {
        try await reads.json(Statement("account_get", "select account_get($1)"), [.id(user)])
    }

    /// `changes` is an object of the members to change; `words` the directory's words for the new name, if it has one.
    package func updateAccount(_ user: UserID, changes: JSONText, words: [String]) async throws -> JSONText {
        try await json(
            Statement("account_update", "select account_update($1, $2, $3)"),
            [.id(user), .json(changes), .texts(words)])
    }

    /// Publishes a part of what a change left over, of a profile or of a thread that many are invited to; false: there
    /// was nothing left.
    package func continueAnnouncement() async throws -> Bool {
        let row = try await row(Statement("announcement_continue", "select announcement_continue()"), [])
        return try await decoded { try row.bool(0) }
    }

    /// A profile, with the user's presence if the viewer may see it. Throws `user_not_found`.
    package func user(_ user: UserID, for viewer: UserID) async throws -> JSONText {
        let row = try await reads.row(Statement("user_get", "select user_get($1, $2)"), [.id(user), .id(viewer)])
        guard !row.isNull(0) else { throw Problem.userNotFound }
        return try await decoded { try row.json(0) }
    }

    /// The directory, by a case-folded prefix, with the presence of those with whom the viewer has a direct thread.
    package func searchUsers(prefix: String, for viewer: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("user_search", "select * from user_search($1, $3, $4, $5, $2)"), [.text(prefix), .id(viewer)],
            request)
    }
}

extension Store {
    /// Whose token has this digest; nil for none, and for one that hasn't been used for so many days.
    package func findSession(digest: [UInt8], idleDays: Int) async throws -> FoundSession? {
        let rows = try await log.rows(
            Statement("session_find", "select * from session_find($1, $2)"), [.bytes(digest), .int4(Int32(idleDays))])
        return try await decoded {
            try rows.first.map {
                FoundSession(
                    identity: Identity(user: UserID(try $0.uuid(1)), session: SessionID(try $0.uuid(0))),
                    position: Position(try $0.int8(2)))
            }
        }
    }

    package func sessions(of user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("session_list", "select * from session_list($1, $2, $3, $4)"), [.id(user)], request)
    }

    /// Signs a device out. Throws `session_not_found`.
    package func deleteSession(_ session: SessionID, of user: UserID) async throws {
        _ = try await rows(
            Statement("session_delete", "select session_delete($1, $2)"), [.id(user), .id(session)])
    }

    /// Signs out devices of the user's other than this one, and gives them: all that there are if fewer than `limit`.
    package func deleteSessions(of user: UserID, but session: SessionID, limit: Int) async throws -> [SessionID] {
        let row = try await row(
            Statement("session_delete_others", "select session_delete_others($1, $2, $3)"),
            [.id(user), .id(session), .int4(Int32(limit))])
        return try await decoded { try row.uuids(0).map { SessionID($0) } }
    }

    /// Ends sessions that haven't been used for so many days, of the `limit` after one. Several nodes may call this.
    /// - Returns: where to go on, nil at the end, and how many it has ended.
    package func sweepSessions(
        after session: SessionID?, limit: Int, idleDays: Int
    ) async throws -> (next: SessionID?, endedCount: Int) {
        let row = try await row(
            Statement("session_sweep", "select * from session_sweep($1, $2, $3)"),
            [.uuid(orNull: session?.uuid), .int4(Int32(limit)), .int4(Int32(idleDays))])
        return try await decoded { (row.isNull(0) ? nil : SessionID(try row.uuid(0)), Int(try row.int4(1))) }
    }

    /// Notes when sessions were last used, in microseconds since 1970.
    package func touchSessions(_ times: [SessionID: Int64]) async throws {
        _ = try await rows(
            Statement("session_touch", "select session_touch($1, $2)"),
            [.ids(Array(times.keys)), .timestamps(times.values.map { $0 })])
    }
}
