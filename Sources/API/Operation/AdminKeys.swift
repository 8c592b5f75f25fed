// /v1/admin/keys: keys with scopes, for programs that call the admin API.
import Basics
import Credentials
import Domain
import Store

struct AdminKeyCalls: Sendable {
    let store: Store
    let adminGuard: AdminGuard

    var routes: [Route] {
        let all = "/v1/admin/keys"
        return [
            Route(.post, all, .adminCreateKey, body: .small, .admin(.keys, createKey)),
            Route(.get, all, .adminListKeys, query: .read, .adminList(.keys, "keys", store.adminKeys)),
            Route(.delete, all + "/{key_id}", .adminDeleteKey, .adminDone(.keys, deleteKey)),
        ]
    }

    private func createKey(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let draft = try await call.fields { fields in try AdminKeyDraft(&fields) }
        return .json(try await store.createAdminKey(draft, by: actor), status: .created)
    }

    private func deleteKey(_ call: Call, _ actor: AdminActor) async throws {
        let key: AdminKeyID = try call.id(of: "key", orElse: .keyNotFound)
        try await store.deleteAdminKey(key, by: actor)
        adminGuard.revoke(key)
    }
}

/// A key that an administrator asks for.
package struct AdminKeyDraft: Sendable {
    package var name: AdminKeyName
    package var scopes: [AdminScope]
    package var expiresAt: Timestamp?

    package init(name: AdminKeyName, scopes: [AdminScope], expiresAt: Timestamp?) throws(Invalid) {
        if let expiresAt, expiresAt.microsSince1970 <= WallClock.micros {
            throw Invalid(fields: [Problem.Field("expires_at", "Must be in the future.")])
        }
        self.name = name
        self.scopes = scopes
        self.expiresAt = expiresAt
    }

    init(_ fields: inout Fields<JSONValue>) throws {
        let name = fields.required("name", AdminKeyName.self)
        let scopes = fields.required("scopes", AdminScope.list)
        let expiresAt = fields.optional("expires_at", Timestamp.self)
        let (given, list) = try fields.values(name, scopes)
        try self.init(name: given, scopes: list, expiresAt: expiresAt)
    }
}

extension Store {
    /// Creates a key that can do no more than the actor. Returns it with its token.
    /// - Throws: `scope_missing` for a scope that the actor lacks, and 422 if it would expire later than the actor's key.
    package func createAdminKey(_ draft: AdminKeyDraft, by actor: AdminActor) async throws -> JSONText {
        try actor.key?.require(draft.scopes)
        try actor.key?.checkExpiry(of: draft.expiresAt)
        let token = AdminKeyToken.random()
        let key = try await createAdminKey(
            NewAdminKey(
                id: .make(), digest: token.digest, name: draft.name.text, scopes: draft.scopes,
                expiresAt: draft.expiresAt),
            by: actor)
        return key.adding("token", token.text)
    }
}
