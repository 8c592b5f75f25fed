// Sessions: one for each device.
import Domain
import Postgres

/// A new session: a device. Only the token's SHA-256 is stored.
package struct NewSession: Sendable {
    package var id: SessionID
    package var digest: [UInt8]
    package var deviceName: String?
    /// How many sessions the account may have, including this one; the session unused for longest ends.
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
    /// Sessions that ended to make room.
    package var ended: [SessionID] = []
}

extension Row {
    /// The columns (account, session, ended).
    func signedIn() throws -> SignedIn {
        SignedIn(user: try json(0), session: try json(1), ended: try uuids(2).map { SessionID($0) })
    }
}

/// A session as found by its token's digest, and the position of the log at that time: later events change it.
package struct FoundSession: Sendable {
    package var identity: Identity
    package var position: Position
}

extension Store {
    /// Returns the session with this token digest; nil if there is none, or if it was not used for `idleDays`.
    package func findSession(digest: [UInt8], idleDays: Int) async throws -> FoundSession? {
        try await log.firstRow("session_find", [.bytes(digest), .int(idleDays)]) {
            FoundSession(
                identity: Identity(user: UserID(try $0.uuid(1)), session: SessionID(try $0.uuid(0))),
                position: Position(try $0.int8(2)))
        }
    }

    package func sessions(of user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page("session_list", [.id(user)], request)
    }

    /// Signs a device out. Throws `session_not_found`.
    package func deleteSession(_ session: SessionID, of user: UserID) async throws {
        try await call("session_delete", [.id(user), .id(session)])
    }

    /// Signs out the user's other devices, at most `limit`, and returns them.
    package func deleteSessions(of user: UserID, but session: SessionID, limit: Int) async throws -> [SessionID] {
        try await value("session_delete_others", [.id(user), .id(session), .int(limit)]) { row in
            try row.uuids(0).map { SessionID($0) }
        }
    }

    /// Of the `limit` sessions after `session`, ends those that were not used for `idleDays`. Runs on every node.
    /// - Returns: where to continue, nil at the end, and how many sessions ended.
    package func sweepSessions(
        after session: SessionID?, limit: Int, idleDays: Int
    ) async throws -> (next: SessionID?, endedCount: Int) {
        try await row("session_sweep", [.uuid(orNull: session?.uuid), .int(limit), .int(idleDays)]) {
            ($0.isNull(0) ? nil : SessionID(try $0.uuid(0)), Int(try $0.int4(1)))
        }
    }

    /// Records when sessions were last used, in microseconds since 1970.
    package func touchSessions(_ times: [SessionID: Int64]) async throws {
        try await call("session_touch", [.ids(Array(times.keys)), .timestamps(times.values.map { $0 })])
    }
}
