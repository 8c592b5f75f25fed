// Threads, rooms, members, and the user's own settings of a thread.
import Foundation

extension Call {
    /// Threads, rooms and their members.
    public static var threads: ThreadCalls { ThreadCalls() }
}

extension Identifier where Subject == User {
    /// In calls about members: the user who calls.
    public static var me: Self { "me" }
}

/// `Call.threads`.
public struct ThreadCalls: Sendable {
    /// Creates a thread, or returns the direct thread of this pair. A direct thread has exactly one other person in
    /// `members`. With `invite`, the members are invited instead of added. `POST /v1/threads`
    public func create(
        _ kind: ThreadKind, title: String? = nil, members: [UserID] = [], invite: Bool = false,
        retention: Retention? = nil, custom: [String: JSONValue]? = nil, labels: [String] = []
    ) -> Call<ThreadSummary> {
        let body: JSONValue = .fields([
            "kind": .init(kind), "title": title.map { .string($0) },
            "members": members.isEmpty ? nil : .array(members.map { .init($0) }), "invite": invite ? true : nil,
            "retention": retention.map { .object($0.json) }, "custom": custom.map { .object($0) },
            "labels": labels.isEmpty ? nil : .array(labels.map { .string($0) }),
        ])
        return Call("POST", "v1", "threads", body: body)
    }

    /// A thread. `GET /v1/threads/{thread_id}`
    public func get(_ id: ThreadID) -> Call<ThreadSummary> { Call("GET", "v1", "threads", id.rawValue) }

    /// Changes a group or room. An image is a URL, or `attachment:` and the id of an uploaded picture. `custom` and
    /// `labels` are replaced as a whole.
    /// `PATCH /v1/threads/{thread_id}`
    public func update(
        _ id: ThreadID, title: FieldChange<String> = .unchanged, topic: FieldChange<String> = .unchanged,
        image: FieldChange<String> = .unchanged,
        retention: FieldChange<Retention> = .unchanged, custom: FieldChange<[String: JSONValue]> = .unchanged,
        labels: [String]? = nil
    ) -> Call<ThreadSummary> {
        let body: JSONValue = .fields([
            "title": title.json { .string($0) }, "topic": topic.json { .string($0) },
            "image": image.json { .string($0) },
            "retention": retention.json { .object($0.json) }, "custom": custom.json { .object($0) },
            "labels": labels.map { .array($0.map { .string($0) }) },
        ])
        return Call("PATCH", "v1", "threads", id.rawValue, body: body)
    }

    /// Joins the room with this title, or makes it. `POST /v1/rooms`
    public func joinRoom(title: String) -> Call<ThreadSummary> {
        Call("POST", "v1", "rooms", body: ["title": .string(title)])
    }

    /// Rooms whose title begins with the text, largest first; all rooms without a text. With labels those that have all
    /// of them. `GET /v1/rooms`
    public func rooms(
        matching text: String? = nil, labels: [String] = [], limit: Int? = nil, page: String? = nil
    ) -> Call<RoomPage> {
        Call("GET", "v1", "rooms", query: [("query", text)] + .labels(labels) + .page(limit, page))
    }

    /// The members: owners, then admins, then the others. `GET /v1/threads/{thread_id}/members`
    public func members(of id: ThreadID, limit: Int? = nil, page: String? = nil) -> Call<MemberPage> {
        Call("GET", "v1", "threads", id.rawValue, "members", query: .page(limit, page))
    }

    /// Adds or invites a person, or changes the role. `.me` with `joined` accepts an invitation, or joins a room. A
    /// person who may not be added is invited: see `status` in the answer.
    /// `PUT /v1/threads/{thread_id}/members/{user_id}`
    public func setMember(
        _ user: UserID, of id: ThreadID, role: Role? = nil, status: MemberStatus? = nil
    ) -> Call<Member> {
        let body: JSONValue = .fields(["role": role.map { .init($0) }, "status": status.map { .init($0) }])
        return Call("PUT", "v1", "threads", id.rawValue, "members", user.rawValue, body: body)
    }

    /// Removes a person, or withdraws the invitation. `.me` leaves, or declines the invitation.
    /// `DELETE /v1/threads/{thread_id}/members/{user_id}`
    public func removeMember(_ user: UserID, of id: ThreadID) -> Call<Void> {
        Call("DELETE", "v1", "threads", id.rawValue, "members", user.rawValue)
    }

    /// Changes the user's own settings of a thread. Messages below `hiddenBeforeSeq` are no longer shown to the user.
    /// `custom` and `labels` are the user's own, and are replaced as a whole.
    /// `PATCH /v1/threads/{thread_id}/settings`
    public func updateSettings(
        of id: ThreadID, mute: FieldChange<Mute> = .unchanged, isArchived: Bool? = nil, isPinned: Bool? = nil,
        notify: AlertLevel? = nil, hiddenBeforeSeq: Seq? = nil,
        custom: FieldChange<[String: JSONValue]> = .unchanged, labels: [String]? = nil
    ) -> Call<ThreadSettings> {
        let body: JSONValue = .fields([
            "muted_until": mute.json { .init($0.end) }, "archived": isArchived.map { .bool($0) },
            "pinned": isPinned.map { .bool($0) }, "notify": notify.map { .init($0) },
            "hidden_before_seq": hiddenBeforeSeq.map { .init($0) },
            "custom": custom.json { .object($0) }, "labels": labels.map { .array($0.map { .string($0) }) },
        ])
        return Call("PATCH", "v1", "threads", id.rawValue, "settings", body: body)
    }
}
