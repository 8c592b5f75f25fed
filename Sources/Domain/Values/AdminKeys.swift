// Keys of the admin API: what a program may do.

/// What an admin call needs of a key. The admin token has all scopes.
package enum AdminScope: String, CaseIterable, Sendable, WordField {
    case usersRead = "users:read"
    case usersWrite = "users:write"
    case usersSignIn = "users:sign-in"
    case threadsRead = "threads:read"
    case threadsWrite = "threads:write"
    case messagesRead = "messages:read"
    case messagesWrite = "messages:write"
    case moderation
    case changes
    case webhooks
    case export
    case `import`
    case holds
    case audit
    case metrics
    case keys

    /// Reads a list without repetitions. Its order is kept.
    package static func list(_ json: JSONValue) throws(Invalid) -> [AdminScope] {
        let scopes = try json.entries(countMax: allCases.count) { entry throws(Invalid) in try AdminScope(entry) }
        guard !scopes.isEmpty else { throw Invalid("Must have at least one scope.") }
        guard Set(scopes).count == scopes.count else { throw Invalid("Must name each scope once.") }
        return scopes
    }
}

/// A key of the admin API. A key never changes: it is created, and it expires or is revoked.
package struct AdminKey: Sendable, Equatable {
    package var id: AdminKeyID
    package var name: String
    package var scopes: Set<AdminScope>
    /// Nil for a key that does not expire.
    package var expiresAt: Timestamp?

    package init(id: AdminKeyID, name: String, scopes: Set<AdminScope>, expiresAt: Timestamp?) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.expiresAt = expiresAt
    }

    /// - Parameter now: microseconds since 1970.
    package func isExpired(now: Int64) -> Bool { expiresAt.map { $0.microsSince1970 <= now } ?? false }

    /// Throws `scope_missing`, which names the scopes that this key lacks.
    package func require(_ needed: [AdminScope]) throws(Problem) {
        let missing = needed.filter { !scopes.contains($0) }
        guard !missing.isEmpty else { return }
        let names = missing.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw Problem(.scopeMissing, "This key lacks a scope that the call needs: \(names). Use a key that has it.")
    }

    /// Throws 422 if a key that this one creates would expire later than this one.
    package func checkExpiry(of expiresAt: Timestamp?) throws(Problem) {
        guard let own = self.expiresAt, expiresAt.map({ $0 > own }) ?? true else { return }
        throw .invalid("expires_at", "Must be at most \(own): the key that creates this one expires then.")
    }
}

/// The name of a key: one line of 1–128 characters.
package struct AdminKeyName: Hashable, Sendable, TextField {
    package static let characterCountMax = 128
    package let text: String

    package init(text: String) throws(Invalid) {
        self.text = try .singleLine(text, characterCountMax: Self.characterCountMax)
    }
}
