// The caller's own account, the profiles of other users, and the directory.
import Domain
import Log
import Store

struct UserCalls: Sendable {
    let store: Store
    let presence: PresenceWorker
    let directory: DirectoryRule

    var routes: [Route] {
        [
            Route(.get, "/v1/users/me", .getOwnAccount, .signedIn(getOwnAccount)),
            Route(.patch, "/v1/users/me", .updateOwnAccount, .signedIn(updateOwnAccount)),
            Route(.get, "/v1/users", .searchUsers, query: .read, .signedIn(searchUsers)),
            Route(.get, "/v1/users/{user_id}", .getUser, .signedIn(getUser)),
        ]
    }

    private func getOwnAccount(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.account(identity.user))
    }

    private func updateOwnAccount(_ call: Call, _ identity: Identity) async throws -> Answer {
        let changes = try AccountChanges(await call.body())
        let user = identity.user
        if changes.members.isEmpty { return .json(try await store.account(user)) }
        var words: [String] = []
        if let name = changes.name { words = name.directoryWords(with: try await username(of: user)) }
        let account = try await store.updateAccount(
            user, changes: JSONText(.object(changes.members)), words: words)
        // A user who starts or stops sharing presence appears so at once.
        if changes.hasPreferences { presence.add(presence: try await store.presence(of: user)) }
        return .json(account)
    }

    /// The account's username, which never changes. Nil for accounts that sign in another way.
    private func username(of user: UserID) async throws -> Username? {
        let account = try JSONReader.read(await store.account(user).utf8)
        return try account["username"]?.string.map { try Username(text: $0) }
    }

    private func searchUsers(_ call: Call, _ identity: Identity) async throws -> Answer {
        var query = call.query
        let request = query.pageRequest()
        let prefix = query.required("query") { text throws(Invalid) in
            let prefix = try SearchPrefix(text: text)
            guard !prefix.text.isEmpty else { throw Invalid("Must not be empty.") }
            return prefix.text
        }
        let text = try query.values(prefix)
        if directory == .off { return .list("users", Page(items: [], next: nil), limit: request.limit) }
        let page = try await store.searchUsers(
            prefix: text, for: identity.user, isShared: directory == .shared, request)
        return .list("users", page, limit: request.limit)
    }

    private func getUser(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.user(call.id("user_id", orElse: .userNotFound), for: identity.user))
    }
}

/// The changes of a PATCH. A field that is left out stays as it is. Null clears a field that may be empty.
private struct AccountChanges {
    var name: DisplayName?
    /// The fields to change.
    var members: [JSONValue.Member] = []
    let hasPreferences: Bool

    init(_ body: JSONValue) throws(Invalid) {
        var fields = try Fields(body)
        name = fields.given("name") { json throws(Invalid) in try DisplayName(json) }
        let image = fields.given("profile_image") { json throws(Invalid) in try Picture?(json) }
        let status = fields.given("status_text") { json throws(Invalid) in try StatusText?(json) }
        let preferences = fields.given("preferences") { json throws(Invalid) in try Preferences(json) }
        let custom = fields.given("custom") { json throws(Invalid) in try CustomData?(json) }
        try fields.end()
        hasPreferences = preferences != nil
        if let name { members.append(.init("name", .string(name.text))) }
        if let image { members.append(.init("profile_image", .string(orNull: image?.text))) }
        if let status { members.append(.init("status_text", .string(orNull: status?.text))) }
        if let preferences { members.append(.init("preferences", preferences.json)) }
        if let custom { members.append(.init("custom", custom?.json ?? .null)) }
    }
}

/// The beginning of a name to search for, folded like the names that it is compared with.
struct SearchPrefix: TextField {
    static let characterCountMax = 128
    let text: String

    init(text: String) throws(Invalid) {
        try Self.checkLength(text)
        self.text = text.folded
    }

    static func checkLength(_ text: String) throws(Invalid) {
        guard text.unicodeScalars.count <= characterCountMax else {
            throw Invalid("Must have at most \(characterCountMax) characters.")
        }
    }
}
