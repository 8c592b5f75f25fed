// Threads and members of the host app's server: created and changed by the rules of users' calls.
import Domain
import Store

extension AdminCalls {
    private static var threads: String { "/v1/admin/threads" }
    static var thread: String { threads + "/{thread_id}" }

    var threadRoutes: [Route] {
        let (members, member) = (Self.thread + "/members", Self.thread + "/members/{user_id}")
        return [
            Route(.post, Self.threads, .adminCreateThread, repeats: .kept, .admin(.threadsWrite, createThread)),
            Route(.get, Self.threads, .adminListThreads, query: .read, .admin(.threadsRead, listThreads)),
            Route(.put, Self.thread, .adminPutThread, .admin(.threadsWrite, putThread)),
            Route(
                .get, Self.thread, .adminGetThread,
                .admin(.threadsRead) { call, _ in .json(try await store.adminThread(store.thread(of: call))) }),
            Route(.patch, Self.thread, .adminUpdateThread, .admin(.threadsWrite, updateThread)),
            Route(
                .delete, Self.thread, .adminDeleteThread,
                .adminDone(.threadsWrite) { call, actor in
                    try await store.deleteThread(store.thread(of: call), by: actor)
                }),
            Route(.get, members, .adminListMembers, query: .read, .admin(.threadsRead, listMembers)),
            Route(.put, member, .adminPutMember, body: .small, .admin(.threadsWrite, putMember)),
            Route(.delete, member, .adminDeleteMember, .adminDone(.threadsWrite, deleteMember)),
        ]
    }

    private func createThread(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let draft = try AdminThreadDraft(await call.body(), limits: limits)
        return try await ensure(serverThread(draft, externalID: nil), draft, by: actor, once: call.once)
    }

    /// Creates the thread of an external id, or sets what the body names and adds the members whom the thread lacks. Each
    /// step is a transaction, and all of them can be repeated.
    private func putThread(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let reference: ThreadReference = try call.reference("thread_id", orElse: .noSuchThread)
        let draft = try AdminThreadDraft(await call.body(), limits: limits)
        if let id = try await store.id(of: reference) {
            let members = try await members(of: draft)
            return .json(try await complete(id, draft, members: members, by: actor))
        }
        guard case .external(let external) = reference else { throw Problem.noSuchThread }
        return try await ensure(serverThread(draft, externalID: external), draft, by: actor)
    }

    /// Creates a thread. One that exists already (two people have a direct thread, or another call made it a moment ago)
    /// is completed.
    private func ensure(
        _ new: ServerThread, _ draft: AdminThreadDraft, by actor: AdminActor, once: IdempotentRequest? = nil
    ) async throws -> Answer {
        let (created, thread) = try await store.ensureThread(
            new, id: .make(), threadCountMax: limits.accountThreadCountMax, by: actor, once: once)
        if created { return .json(thread, status: .created) }
        let id = try ThreadID(JSONReader.read(thread.utf8)["id"] ?? .null)
        return .json(try await complete(id, draft, members: (new.members, new.roles), by: actor))
    }

    private func members(of draft: AdminThreadDraft) async throws -> (ids: [UserID], roles: [MemberRole?]) {
        let ids = try await store.ids(of: draft.members.map(\.user), in: "members")
        guard ids.withoutRepeats.count == ids.count else {
            throw Problem.invalid("members", "Must name each user once.")
        }
        return (ids, draft.members.map(\.role))
    }

    private func serverThread(_ draft: AdminThreadDraft, externalID: ExternalID?) async throws -> ServerThread {
        try draft.checkNew()
        let (ids, roles) = try await members(of: draft)
        return ServerThread(
            kind: draft.kind, title: draft.title ?? nil, image: draft.image ?? nil,
            retention: draft.retention ?? .standard(limits), members: ids, roles: roles, externalID: externalID,
            appData: draft.appData)
    }

    /// Sets what the draft names in an existing thread. Returns the thread.
    private func complete(
        _ thread: ThreadID, _ draft: AdminThreadDraft, members: (ids: [UserID], roles: [MemberRole?]),
        by actor: AdminActor
    ) async throws -> JSONText {
        let before = try JSONReader.read(await store.adminThread(thread).utf8)
        guard before["kind"]?.string == draft.kind.rawValue else { throw Problem.kindDiffers }
        let missing = try await store.missingMembers(of: thread, members.ids, members.roles)
        let changes = draft.changes
        if !changes.isEmpty {
            _ = try await store.updateThread(
                thread, changes: JSONText(.object(changes)), roomKey: (draft.title ?? nil)?.key, by: actor)
        }
        for user in missing {
            let role = members.ids.firstIndex(of: user).flatMap { members.roles[$0] }
            _ = try await store.putMember(user, in: thread, role: role, status: nil, limits: limits, by: actor)
        }
        return try await store.adminThread(thread)
    }

    private func listThreads(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        var query = call.query(list: "label")
        let request = query.pageRequest()
        let user = query.optional("user", UserReference.self)
        var filters = ThreadFilters()
        filters.kind = query.optional("kind", ThreadKind.self)
        filters.externalID = query.optional("external_id", ExternalID.self)
        filters.labels = query.labels()
        try query.end()
        if let user { filters.member = try await store.id(of: user, in: "user") }
        return .list("threads", try await store.adminThreads(filters, request), limit: request.limit)
    }

    private func updateThread(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let thread = try await store.thread(of: call)
        let changes = try ThreadChanges(await call.body(), limits: limits)
        return .json(
            try await store.updateThread(
                thread, changes: JSONText(.object(changes.members)), roomKey: changes.title?.key, by: actor))
    }

    private func listMembers(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let thread = try await store.thread(of: call)
        return try await call.list("members") { try await store.adminMembers(of: thread, $0) }
    }

    private func putMember(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let (thread, user) = (try await store.thread(of: call), try await store.user(of: call))
        let (role, status) = try await call.fields(isOptional: true) { fields in
            let role = fields.optional("role", MemberRole.self)
            let status = fields.optional("status", WantedStatus.self)
            try fields.end()
            return (role, status?.status)
        }
        return .json(
            try await store.putMember(user, in: thread, role: role, status: status, limits: limits, by: actor))
    }

    private func deleteMember(_ call: Call, _ actor: AdminActor) async throws {
        let thread = try await store.thread(of: call)
        try await store.deleteMember(store.user(of: call), in: thread, by: actor)
    }
}

/// A thread as the host app's server describes it. What is left out stays as it is in a thread that exists.
private struct AdminThreadDraft: Sendable {
    struct Member: Sendable {
        var user: UserReference
        var role: MemberRole?
    }

    var kind: ThreadKind
    /// `.some(nil)` removes the title.
    var title: Title??
    var image: Picture??
    var retention: Retention?
    var appData: AppData
    var members: [Member]

    init(_ body: JSONValue, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let kind = fields.required("kind", ThreadKind.self)
        title = fields.given("title") { json throws(Invalid) -> Title? in
            if case .null = json { nil } else { try Title(json, characterCountMax: limits.titleCharacterCountMax) }
        }
        image = fields.given("image") { json throws(Invalid) in try Picture?(json) }
        retention = fields.optional("retention") { json throws(Invalid) in try Retention(json, limits: limits) }
        appData = AppData(&fields)
        let countMax = kind == .room ? limits.roomMemberCountMax : limits.groupMemberCountMax
        members =
            fields.optional("members") { json throws(Invalid) in
                try json.entries(countMax: countMax) { entry throws(Invalid) in
                    var fields = try Fields(entry)
                    let user = fields.required("user", UserReference.self)
                    let role = fields.optional("role", MemberRole.self)
                    return Member(user: try fields.values(user), role: role)
                }
            } ?? []
        if kind == .direct {
            if (title ?? nil) != nil { fields.refuse("title", "Must be left out: a direct thread has no title.") }
            if (image ?? nil) != nil { fields.refuse("image", "Must be left out: a direct thread has no image.") }
            if members.contains(where: { $0.role != nil && $0.role != .member }) {
                fields.refuse("members", "Must have no roles: the two people of a direct thread are equals.")
            }
            (title, image) = (nil, nil)
        }
        self.kind = try fields.values(kind)
    }

    /// Throws 422 for what a new thread lacks.
    func checkNew() throws(Problem) {
        if kind == .direct, members.count != 2 {
            throw .invalid("members", "Must name exactly two users: a direct thread is theirs.")
        }
        if kind == .room, (title ?? nil) == nil { throw .invalid("title", "A room needs a title.") }
    }

    /// The changes of an existing thread.
    var changes: [JSONValue.Member] {
        var changes: [JSONValue.Member] = []
        if let title { changes.append(.init("title", .string(orNull: title?.text))) }
        if let image { changes.append(.init("image", .string(orNull: image?.text))) }
        if let retention { changes.append(.init("keep_s", retention.keepS.map { .integer($0) } ?? .null)) }
        return changes + appData.members
    }
}

extension Problem {
    fileprivate static let kindDiffers = Problem(
        .threadKindDiffers, "The thread with this external id has another kind, which cannot change.")
}
