// Threads: creating, reading and changing them, and joining rooms. Members.swift has their members.
import Domain
import Store

struct ThreadCalls: Sendable {
    let store: Store
    let rates: RateLimits
    let limits: Limits

    var routes: [Route] {
        [
            Route(.post, "/v1/threads", .createThread, repeats: .kept, .signedIn(createThread)),
            Route(.get, "/v1/threads/{thread_id}", .getThread, .signedIn(getThread)),
            Route(.patch, "/v1/threads/{thread_id}", .updateThread, .signedIn(updateThread)),
            Route(.post, "/v1/rooms", .joinRoom, body: .small, repeats: .kept, .signedIn(joinRoom)),
            Route(.get, "/v1/rooms", .searchRooms, query: .read, .signedIn(searchRooms)),
        ]
    }

    private func createThread(_ call: Call, _ identity: Identity) async throws -> Answer {
        let draft = try ThreadDraft(await call.body(), creator: identity.user, limits: limits)
        if draft.kind == .room, let title = draft.title {
            return try await join(
                title, identity.user, retention: draft.retention, appData: draft.appData, once: call.once)
        }
        let (created, thread) = try await rates.counting {
            try await store.createThread(
                id: .make(), kind: draft.kind, title: draft.title?.text, roomKey: nil, creator: identity.user,
                members: draft.members, invite: draft.invite, retention: draft.retention, appData: draft.appData,
                rules: AdmissionRules(for: identity.user, limits, rates), once: call.once)
        }
        settle(created, reaching: draft.members.count, by: identity.user)
        return .made(created, thread)
    }

    /// Charges for a new thread. Gives back the token if the thread existed before.
    private func settle(_ created: Bool, reaching memberCount: Int, by user: UserID) {
        if created {
            rates.charge(reaching: memberCount, by: user)
        } else {
            rates.giveBack(.threadsOfAccount, to: user)
        }
    }

    private func getThread(_ call: Call, _ identity: Identity) async throws -> Answer {
        .json(try await store.thread(call.thread(), for: identity.user))
    }

    private func updateThread(_ call: Call, _ identity: Identity) async throws -> Answer {
        let thread = try call.thread()
        let changes = try ThreadChanges(await call.body(), limits: limits)
        let (updated, memberCount) = try await store.updateThread(
            thread, by: identity.user, changes: JSONText(.object(changes.members)), roomKey: changes.title?.key)
        rates.charge(reaching: memberCount, by: identity.user)
        return .json(updated)
    }

    private func joinRoom(_ call: Call, _ identity: Identity) async throws -> Answer {
        let title = try await call.fields { fields in
            let title = fields.required("title") { json throws(Invalid) in
                try Title(json, characterCountMax: limits.titleCharacterCountMax)
            }
            return try fields.values(title)
        }
        return try await join(title, identity.user, retention: .standard(limits), once: call.once)
    }

    /// - Parameters:
    ///   - retention: applied if the room is new.
    ///   - appData: the same.
    private func join(
        _ title: Title, _ user: UserID, retention: Retention, appData: AppData = AppData(), once: IdempotentRequest?
    ) async throws -> Answer {
        let (created, thread) = try await rates.counting {
            try await store.joinRoom(
                id: .make(), title: title.text, key: title.key, user: user, memberCountMax: limits.roomMemberCountMax,
                retention: retention, appData: appData, rules: AdmissionRules(for: user, limits, rates), once: once)
        }
        settle(created, reaching: 0, by: user)
        return .made(created, thread)
    }

    private func searchRooms(_ call: Call, _ identity: Identity) async throws -> Answer {
        var query = call.query(list: "label")
        let request = query.pageRequest()
        let labels = query.labels()
        let prefix = query.given("query") { text throws(Invalid) in
            try SearchPrefix.checkLength(text)
            return RoomKey(text)
        }
        try query.end()
        let page = try await store.rooms(prefix: prefix ?? RoomKey(""), labels: labels, request)
        return .list("rooms", page, limit: request.limit)
    }
}

extension Fields where Raw == String {
    /// The labels that all threads of a list have; empty for any. Read a query with `list: "label"`.
    mutating func labels() -> [String] {
        all("label") { text throws(Invalid) in try Label(text: text).text }
    }
}

extension AdmissionRules {
    /// The limits on the threads that the caller creates and joins, and on the people the caller adds.
    init(for user: UserID, _ limits: Limits, _ rates: RateLimits) {
        self.init(
            threadCountMax: limits.accountThreadCountMax, strangers: limits.strangers,
            newThreads: rates.bucket(.dailyThreadsOfAccount, of: user),
            additions: rates.bucket(.strangersOfAccount, of: user))
    }
}

/// A thread as the client describes it.
struct ThreadDraft: Sendable {
    var kind: ThreadKind
    var title: Title?
    /// The creator is left out, and each user occurs once.
    var members: [UserID]
    var invite: Bool
    var retention: Retention
    var appData: AppData

    init(_ body: JSONValue, creator: UserID, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let kind = fields.required("kind", ThreadKind.self)
        let title = fields.optional("title") { json throws(Invalid) in
            try Title(json, characterCountMax: limits.titleCharacterCountMax)
        }
        let members = fields.optional("members") { json throws(Invalid) in
            // The body's size limits the number of names. The number of members is checked below.
            try json.entries(countMax: .max) { user throws(Invalid) in try UserID(user) }
        }
        let invite = fields.optional("invite", Bool.self)
        let retention = fields.optional("retention") { json throws(Invalid) in
            try Retention(json, limits: limits)
        }
        appData = AppData(&fields)
        let others = (members ?? []).withoutRepeats.filter { $0 != creator }
        switch kind {
        case .direct:
            if title != nil { fields.refuse("title", "Must be left out: a direct thread has no title.") }
            if others.count != 1, !fields.isRefused("members") {
                fields.refuse("members", "Must name exactly one other user.")
            }
        case .group:
            if others.count >= limits.groupMemberCountMax {
                fields.refuse("members", "A group has at most \(limits.groupMemberCountMax) members.")
            }
        case .room:
            if title == nil, !fields.isRefused("title") { fields.refuse("title", "A room needs a title.") }
            if !others.isEmpty { fields.refuse("members", "Must be empty for a room: users join rooms themselves.") }
        case nil: break
        }
        self.kind = try fields.values(kind)
        self.title = title
        self.members = others
        self.invite = invite ?? false
        self.retention = retention ?? .standard(limits)
    }
}

/// The changes of a PATCH. A field that is left out stays as it is. Null clears a field that may be empty.
struct ThreadChanges: Sendable {
    var title: Title?
    /// The fields to change.
    var members: [JSONValue.Member] = []

    init(_ body: JSONValue, limits: Limits) throws(Invalid) {
        var fields = try Fields(body)
        let title = fields.given("title") { json throws(Invalid) -> Title? in
            if case .null = json { nil } else { try Title(json, characterCountMax: limits.titleCharacterCountMax) }
        }
        let topic = fields.given("topic") { json throws(Invalid) in try Topic?(json) }
        let image = fields.given("image") { json throws(Invalid) in try Picture?(json) }
        let retention = fields.optional("retention") { json throws(Invalid) in
            try Retention(json, limits: limits)
        }
        let appData = AppData(&fields)
        try fields.end()
        if let title {
            self.title = title
            members.append(.init("title", .string(orNull: title?.text)))
        }
        if let topic { members.append(.init("topic", .string(orNull: topic?.text))) }
        if let image { members.append(.init("image", .string(orNull: image?.text))) }
        if let retention { members.append(.init("keep_s", retention.keepS.map { .integer($0) } ?? .null)) }
        members += appData.members
    }
}
