// Users and threads by the host app's own ids.
import Domain
import Postgres

extension Store {
    /// Returns the ids of those of the users that exist, by their external ids.
    package func users(by externalIDs: [ExternalID]) async throws -> [ExternalID: UserID] {
        try await found("user_by_external_id", externalIDs)
    }

    /// Returns the ids of those of the threads that exist, by their external ids.
    package func threads(by externalIDs: [ExternalID]) async throws -> [ExternalID: ThreadID] {
        try await found("thread_by_external_id", externalIDs)
    }

    private func found<Kind>(
        _ function: String, _ externalIDs: [ExternalID]
    ) async throws -> [ExternalID: Identifier<Kind>] {
        let rows = try await reads.rows(function, [.texts(externalIDs.map { $0.text })]) { row in
            (text: try row.text(0), id: Identifier<Kind>(try row.uuid(1)))
        }
        var found: [ExternalID: Identifier<Kind>] = [:]
        for row in rows { found[try ExternalID(text: row.text)] = row.id }
        return found
    }

    /// Returns the id that a reference stands for. Nil if it is an external id that nobody has.
    package func id(of user: UserReference) async throws -> UserID? {
        switch user {
        case .id(let id): id
        case .external(let external): try await users(by: [external])[external]
        }
    }

    package func id(of thread: ThreadReference) async throws -> ThreadID? {
        switch thread {
        case .id(let id): id
        case .external(let external): try await threads(by: [external])[external]
        }
    }

    /// The same for a field of a body or query. Throws 422 for an external id that nobody has.
    package func id(of user: UserReference, in field: String) async throws -> UserID {
        guard let id = try await id(of: user) else { throw Problem.invalid(field, "There is no such user.") }
        return id
    }

    package func id(of thread: ThreadReference, in field: String) async throws -> ThreadID {
        guard let id = try await id(of: thread) else { throw Problem.invalid(field, "There is no such thread.") }
        return id
    }

    /// The same for a list, whose order is kept.
    package func ids(of users: [UserReference], in field: String) async throws -> [UserID] {
        let external = users.compactMap { user -> ExternalID? in
            guard case .external(let id) = user else { return nil }
            return id
        }
        let found = external.isEmpty ? [:] : try await self.users(by: external)
        var unknown: [Problem.Field] = []
        var ids: [UserID] = []
        for (index, user) in users.enumerated() {
            switch user {
            case .id(let id): ids.append(id)
            case .external(let external):
                if let id = found[external] {
                    ids.append(id)
                } else {
                    unknown.append(.init("\(field)[\(index)]", "There is no such user."))
                }
            }
        }
        guard unknown.isEmpty else { throw Problem.invalid(unknown) }
        return ids
    }
}
