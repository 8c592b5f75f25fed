// Threads, members and messages of the host app's server, under the rules of users' calls.
import Domain
import Postgres

/// A thread that the host app's server describes.
package struct ServerThread: Sendable {
    package var kind: ThreadKind
    package var title: Title?
    package var image: Picture?
    package var retention: Retention
    package var members: [UserID]
    /// In the order of `members`. Nil for `member`, and for whom the thread has already.
    package var roles: [MemberRole?]
    package var externalID: ExternalID?
    package var appData: AppData

    package init(
        kind: ThreadKind, title: Title?, image: Picture?, retention: Retention, members: [UserID],
        roles: [MemberRole?], externalID: ExternalID?, appData: AppData
    ) {
        self.kind = kind
        self.title = title
        self.image = image
        self.retention = retention
        self.members = members
        self.roles = roles
        self.externalID = externalID
        self.appData = appData
    }
}

/// The threads that an administrator looks for. Nil for any.
package struct ThreadFilters: Sendable {
    package var member: UserID?
    package var kind: ThreadKind?
    package var externalID: ExternalID?
    /// Those that a thread has all of. Empty for any.
    package var labels: [String] = []

    package init() {}
}

/// A message that the host app's server sends.
package struct ServerMessage: Sendable {
    package var draft: MessageDraft
    /// Nil for a message of the server itself.
    package var sender: UserID?
    package var mentions: [UserID]
    package var isSilent: Bool

    package init(draft: MessageDraft, sender: UserID?, mentions: [UserID], isSilent: Bool) {
        self.draft = draft
        self.sender = sender
        self.mentions = mentions
        self.isSilent = isSilent
    }
}

extension Store {
    package func adminThreads(_ filters: ThreadFilters, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            "admin_thread_list",
            [
                .uuid(orNull: filters.member?.uuid), .text(orNull: filters.kind?.rawValue),
                .text(orNull: filters.externalID?.text),
                .texts(orNull: filters.labels.isEmpty ? nil : filters.labels),
            ], request)
    }

    /// Creates a thread, or returns the one with its external id, or of its two people. Throws `thread_kind_differs`,
    /// `title_taken`, `external_id_taken`; and the `KeptAnswer` of a request `once` that was done before.
    package func ensureThread(
        _ thread: ServerThread, id: ThreadID, threadCountMax: Int?, by actor: AdminActor, once: IdempotentRequest?
    ) async throws -> (created: Bool, body: JSONText) {
        try await create(
            Creation("admin_thread_create", column: "thread"), once: once,
            actor.parameters + [
                .id(id), .text(thread.kind.rawValue), .text(orNull: thread.title?.text),
                .text(orNull: thread.kind == .room ? thread.title?.key.text : nil), .ids(thread.members),
                .texts(thread.roles.map { $0?.rawValue }), .text(orNull: thread.image?.text),
                .int4(orNull: thread.retention.keepS), .text(orNull: thread.externalID?.text),
                .int4(orNull: threadCountMax.map { Int32($0) }), .text(orNull: thread.appData.custom??.text),
                .texts(thread.appData.labels??.texts ?? []),
            ])
    }

    /// Returns those of the members whom a thread lacks, or who have another role there. Throws 422 for an unknown one.
    package func missingMembers(of thread: ThreadID, _ members: [UserID], _ roles: [MemberRole?]) async throws
        -> [UserID]
    {
        try await value(
            "admin_thread_lacks", [.id(thread), .ids(members), .texts(roles.map { $0?.rawValue })]
        ) { row in try row.uuids(0).map { UserID($0) } }
    }

    /// Changes a thread as the server. `changes` and `roomKey` as in `updateThread`.
    package func updateThread(
        _ thread: ThreadID, changes: JSONText, roomKey: RoomKey?, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "admin_thread_update",
            actor.parameters + [.id(thread), .json(changes), .text(orNull: roomKey?.text)])
    }

    /// Deletes a thread for everyone. Throws `thread_not_found`.
    package func deleteThread(_ thread: ThreadID, by actor: AdminActor) async throws {
        try await call("admin_thread_delete", actor.parameters + [.id(thread)])
    }

    package func adminMembers(of thread: ThreadID, _ request: PageRequest) async throws -> Page {
        try await reads.page("member_list", [.null, .id(thread)], request)
    }

    /// Adds, invites or promotes as the server.
    package func putMember(
        _ user: UserID, in thread: ThreadID, role: MemberRole?, status: MemberStatus?, limits: Limits,
        by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "admin_member_put",
            actor.parameters + [
                .id(thread), .id(user), .text(orNull: role?.rawValue), .text(orNull: status?.rawValue),
                .int(limits.groupMemberCountMax), .int(limits.roomMemberCountMax),
                .int(limits.accountThreadCountMax),
            ])
    }

    /// Removes a member as the server.
    package func deleteMember(_ user: UserID, in thread: ThreadID, by actor: AdminActor) async throws {
        try await call("admin_member_delete", actor.parameters + [.id(thread), .id(user)])
    }

    package func adminMessages(
        in thread: ThreadID, before: HistoryBound?, after: HistoryBound?, limit: Int
    ) async throws -> JSONText {
        try await reads.json(
            "message_page", [.null, .id(thread)] + before.parameters + after.parameters + [.int(limit)])
    }

    package func adminMessage(_ message: MessageID, in thread: ThreadID) async throws -> JSONText {
        try await reads.json("message_get", [.null, .id(thread), .id(message)])
    }

    /// Sends a message. Throws `not_a_member`, and as a send of a user; and the `KeptAnswer` of a request `once` that was
    /// done before.
    package func send(
        _ message: ServerMessage, to thread: ThreadID, payload: MessagePayload, by actor: AdminActor,
        once: IdempotentRequest?
    ) async throws -> (created: Bool, body: JSONText) {
        let draft = message.draft
        let parameters =
            actor.parameters + [
                .id(thread), .id(draft.id), .uuid(orNull: message.sender?.uuid), .text(draft.type.text),
                .json(payload.text), .uuid(orNull: draft.replyTo?.uuid),
                message.mentions.isEmpty ? .null : .text(Self.arrayLiteral(message.mentions)),
                .int4(orNull: draft.expires?.seconds),
                payload.attachments.isEmpty ? .null : .text(Self.arrayLiteral(payload.attachments)),
                .bool(message.isSilent),
            ]
        if let once { return try await append("admin_message_send_once", once, parameters) }
        let (outcome, text) = try await row("admin_message_send", parameters) {
            (try $0.text(0), $0.isNull(1) ? nil : try $0.json(1))
        }
        guard let text else { throw Self.refusal(ofOutcome: outcome) }
        return (outcome == "created", text)
    }

    /// Changes a message's payload as the server.
    package func editMessage(
        _ message: MessageID, in thread: ThreadID, payload: MessagePayload, by actor: AdminActor
    ) async throws -> JSONText {
        try await json(
            "admin_message_edit",
            actor.parameters + [.id(thread), .id(message), .json(payload.text), .ids(payload.attachments)])
    }

    /// Returns the type of a message that the server may edit: nil for one of the server's own.
    package func editableType(of message: MessageID, in thread: ThreadID) async throws -> MessageType? {
        let text = try await value("message_type", [.null, .id(thread), .id(message)]) { try $0.text(0) }
        return text == "system" ? nil : try Self.storedType(text)
    }
}
