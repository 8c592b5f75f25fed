// Keys of programs that call the admin API.
import Domain
import Postgres

/// A key to be created. Only the token's SHA-256 is stored.
package struct NewAdminKey: Sendable {
    package var id: AdminKeyID
    package var digest: [UInt8]
    package var name: String
    package var scopes: [AdminScope]
    package var expiresAt: Timestamp?

    package init(
        id: AdminKeyID, digest: [UInt8], name: String, scopes: [AdminScope], expiresAt: Timestamp?
    ) {
        self.id = id
        self.digest = digest
        self.name = name
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}

/// A key as found by its token's digest, and the position of the log at that time: a later event may revoke it.
package struct FoundAdminKey: Sendable {
    package var key: AdminKey
    package var position: Position
}

extension Store {
    /// Creates a key. The caller has checked that the actor may give these scopes. Throws `invalid_token` if the key of
    /// the actor has been revoked.
    package func createAdminKey(_ new: NewAdminKey, by actor: AdminActor) async throws -> JSONText {
        try await json(
            "admin_key_create",
            actor.parameters + [
                .id(new.id), .bytes(new.digest), .text(new.name), .texts(new.scopes.map(\.rawValue)),
                .timestamp(orNull: new.expiresAt),
            ])
    }

    /// Returns a page of all keys, the newest first.
    package func adminKeys(_ request: PageRequest) async throws -> Page {
        try await reads.page("admin_key_list", [], request)
    }

    /// Returns the key with this token digest; nil if there is none, or if it has expired.
    package func findAdminKey(digest: [UInt8]) async throws -> FoundAdminKey? {
        try await log.firstRow("admin_key_find", [.bytes(digest)]) { row in
            FoundAdminKey(
                key: AdminKey(
                    id: AdminKeyID(try row.uuid(0)), name: try row.text(1),
                    scopes: Set(try row.texts(2).compactMap(AdminScope.init(rawValue:))),
                    expiresAt: row.isNull(3) ? nil : Timestamp(microsSince1970: try row.timestamp(3))),
                position: Position(try row.int8(4)))
        }
    }

    /// Revokes a key. Throws `key_not_found`.
    package func deleteAdminKey(_ key: AdminKeyID, by actor: AdminActor) async throws {
        try await call("admin_key_delete", actor.parameters + [.id(key)])
    }

    /// Records when keys were last used, in microseconds since 1970.
    package func touchAdminKeys(_ times: [AdminKeyID: Int64]) async throws {
        try await call("admin_key_touch", [.ids(Array(times.keys)), .timestamps(times.values.map { $0 })])
    }
}
