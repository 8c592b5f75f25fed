// Accounts by the host app's own ids: creating and changing them, and what they have unread.
import Domain
import Store

extension AdminCalls {
    /// Creates the account of an external id, or changes an account. It is the account of a token with that `sub`.
    func putUser(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let reference: UserReference = try call.reference("user_id", orElse: .userNotFound)
        let draft = try await call.fields { fields in try UserDraft(&fields) }
        let known = try await store.id(of: reference)
        var external: ExternalID?
        if case .external(let id) = reference { external = id }
        let (created, user) = try await store.putUser(
            known ?? .make(), external, changes: JSONText(.object(draft.changes)),
            defaultName: Delegation.defaultName, words: try await words(of: draft, known),
            isBot: draft.kind.map { $0 == .bot }, by: actor)
        return .made(created, user)
    }

    /// The directory's words for the name and the username that the account will have.
    private func words(of draft: UserDraft, _ known: UserID?) async throws -> [String] {
        var (name, username) = (draft.name, draft.username ?? nil)
        if let known, draft.name != nil || draft.username != nil {
            let account = try JSONReader.read(await store.adminUser(known).utf8)
            if name == nil { name = try account["name"]?.string.map { try DisplayName(text: $0) } }
            if draft.username == nil { username = try account["username"]?.string.map { try Username(text: $0) } }
        }
        return try (name ?? DisplayName(text: Delegation.defaultName)).directoryWords(with: username)
    }

    func getUnread(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        .json(try await store.unread(of: store.user(of: call)))
    }
}

/// An account as the host app's server describes it. A field that is left out stays as it is; null clears one that may
/// be empty.
private struct UserDraft: Sendable {
    var kind: AccountKind?
    var name: DisplayName?
    /// `.some(nil)` removes the username.
    var username: Username??
    /// The fields to change.
    var changes: [JSONValue.Member] = []

    init(_ fields: inout Fields<JSONValue>) throws {
        kind = fields.optional("kind", AccountKind.self)
        name = fields.optional("name", DisplayName.self)
        username = fields.given("username") { json throws(Invalid) in try Username?(json) }
        let email = fields.given("email") { json throws(Invalid) in try EmailAddress?(json) }
        let image = fields.given("profile_image") { json throws(Invalid) in try Picture?(json) }
        let custom = fields.given("custom") { json throws(Invalid) in try CustomData?(json) }
        try fields.end()
        if let name { changes.append(.init("name", .string(name.text))) }
        if let username {
            changes.append(.init("username", .string(orNull: username?.text)))
            changes.append(.init("username_key", .string(orNull: username?.key)))
        }
        if let email {
            changes.append(.init("email", .string(orNull: email?.text)))
            changes.append(.init("email_key", .string(orNull: email?.key)))
        }
        if let image { changes.append(.init("profile_image", .string(orNull: image?.text))) }
        if let custom { changes.append(.init("custom", custom?.json ?? .null)) }
    }
}
