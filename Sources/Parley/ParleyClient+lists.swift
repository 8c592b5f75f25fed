// The client's lists, and calls that make threads.
import Foundation
internal import GRDB

extension ParleyClient {
    // MARK: Lists

    /// The user's threads, newest activity first.
    public nonisolated func inbox(_ filter: InboxFilter = .all) -> LiveList<InboxRow> {
        let parts = parts
        return LiveList(hub: parts.store.changes) {
            $0.all || !$0.threads.isEmpty || !$0.presence.isEmpty
        } fetch: { known in
            try await parts.store.read { try InboxQuery.rows($0, filter, known: known, presence: parts.live.presence) }
        }
    }

    /// The number of unread messages, for a badge.
    public nonisolated var unreadTotal: LiveValue<Int> {
        let store = parts.store
        return LiveValue(hub: store.changes) {
            $0.all || !$0.threads.isEmpty
        } fetch: {
            try await store.read { try InboxQuery.unreadTotal($0) }
        }
    }

    /// A handle for a thread. It makes no call, and works for a thread that this device does not have yet.
    public nonisolated func thread(_ id: ThreadID) -> ChatThread { ChatThread(id: id, parts: parts) }

    /// All messages that are not sent yet, oldest first.
    public nonisolated func outbox() -> LiveList<OutgoingMessage> { parts.outbox.list(nil) }

    /// A person's presence; nil if it is unknown, or not shared with the user.
    public nonisolated func presence(of user: UserID) -> LiveValue<PresenceState?> {
        let (id, live) = (user.rawValue, parts.live)
        return LiveValue(hub: parts.store.changes) {
            $0.all || $0.presence.contains(id)
        } fetch: {
            live.presence[id]
        }
    }

    /// The people whom the user has blocked.
    public nonisolated var blocked: LiveValue<Set<UserID>> {
        let store = parts.store
        return LiveValue(hub: store.changes) {
            $0.all || $0.account
        } fetch: {
            try await store.read { db in
                let ids = try JSONValue(stored: try db.value("blocked") ?? "[]").array ?? []
                return Set(ids.compactMap(\.string).map { UserID($0) })
            }
        }
    }

    // MARK: Threads

    /// The direct thread with a person. It is made if there is none.
    public nonisolated func openDirect(with user: UserID) async throws -> ChatThread {
        try await makeThread(.threads.create(.direct, members: [user]).raw)
    }

    /// Creates a group. With `invite`, its members have to accept.
    public nonisolated func createGroup(
        title: String?, members: [UserID], invite: Bool = false, retention: Retention? = nil,
        custom: [String: JSONValue]? = nil, labels: [String] = []
    ) async throws -> ChatThread {
        let call = Call<ThreadSummary>.threads.create(
            .group, title: title, members: members, invite: invite, retention: retention, custom: custom, labels: labels
        )
        return try await makeThread(call.raw)
    }

    /// Joins the room of this title. It is made if there is none.
    public nonisolated func joinRoom(title: String) async throws -> ChatThread {
        try await makeThread(.threads.joinRoom(title: title).raw)
    }

    private nonisolated func makeThread(_ call: Call<JSONValue>) async throws -> ChatThread {
        let connection = parts.connection
        let id = try await parts.store.flight {
            try await connection.call(call)
        } store: { [live = parts.live] fold, thread, touches -> String? in
            guard let id = thread["id"]?.string else { return nil }
            if let peer = thread["peer"] { live.readPresence([peer]) }
            // Its event may have come already.
            if thread["me"] != nil { _ = try fold.loadThread(thread, unless: touches) }
            return id
        }
        guard let id else { throw ParleyError.unreadableAnswer("a new thread has no id") }
        if try await parts.store.thread(ThreadID(id)) == nil { try await parts.history.loadThread(id) }
        return thread(ThreadID(id))
    }

    // MARK: People

    /// People whose username, or a word of whose name, begins with this text.
    public nonisolated func people(matching text: String) async throws -> [User] {
        let found = try await parts.connection.call(.users.search(text, limit: 30)).users
        parts.live.setPresence(of: found)
        return found
    }

    /// Changes the own profile. An image is an `https:` URL or `attachment:{id}`.
    public nonisolated func updateProfile(
        name: String? = nil, profileImage: FieldChange<String> = .unchanged,
        statusText: FieldChange<String> = .unchanged, preferences: Preferences? = nil,
        custom: FieldChange<[String: JSONValue]> = .unchanged
    ) async throws {
        let call = Call<Account>.account.update(
            name: name, profileImage: profileImage, statusText: statusText, preferences: preferences, custom: custom)
        try await parts.store.flight { [connection = parts.connection] in
            try await connection.call(call.raw)
        } store: { fold, user, touches in
            guard !touches.account, !touches.all else { return }
            try fold.setAccount(user)
        }
    }

    /// Blocks a person, who can then neither write to the user in their direct thread nor add the user to a group. The
    /// person is not notified.
    public nonisolated func block(_ user: UserID) async throws {
        try await setBlock(.account.block(user), user, true)
    }

    /// Ends the block of a person.
    public nonisolated func unblock(_ user: UserID) async throws {
        try await setBlock(.account.unblock(user), user, false)
    }

    private nonisolated func setBlock(_ call: Call<Void>, _ user: UserID, _ isBlocked: Bool) async throws {
        try await parts.store.flight { [connection = parts.connection] in
            try await connection.call(call)
        } store: { fold, _, touches in
            guard !touches.account, !touches.all else { return }
            try fold.apply([
                [
                    "type": "settings.updated",
                    "data": ["block": ["user_id": .string(user.rawValue), "blocked": .bool(isBlocked)]],
                ]
            ])
        }
    }
}

extension ParleyClient {
    // MARK: Files

    /// A picture or file of a message in memory. For large files use `save`.
    public nonisolated func data(
        of attachment: AttachmentID, variant: AttachmentVariant = .original
    ) async throws -> Data {
        try await AttachmentDownload(id: attachment, variant: variant).data(with: parts.connection)
    }

    /// Writes a file of a message to a file on this device. After a break, the same call continues where it stopped.
    public nonisolated func save(
        _ attachment: AttachmentID, variant: AttachmentVariant = .original, to target: URL,
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws {
        try await AttachmentDownload(id: attachment, variant: variant)
            .save(to: target, with: parts.connection, progress: progress)
    }
}
