// Threads, members and the inbox.
import Domain
import Postgres

/// A page of the inbox and the point of the log at which it was read.
package struct InboxPage: Sendable {
    /// An array of thread views.
    package var threads: JSONText
    package var unreadTotal: Int64
    package var cursor: Cursor
    package var next: PageKey?
}

extension Store {
    /// Makes a thread. For a direct pair that has one it gives the standing thread, with `created` false.
    package func createThread(
        id: ThreadID, kind: ThreadKind, title: String?, roomKey: String?, creator: UserID, members: [UserID],
        invite: Bool, retention: Retention, rules: AdmissionRules = AdmissionRules()
    ) async throws -> (created: Bool, thread: JSONText) {
        let rows = try await rows(
            Statement(
                "thread_create", "select * from thread_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"),
            [
                .id(id), .text(kind.rawValue), .text(orNull: title), .text(orNull: roomKey), .id(creator),
                .ids(members), .bool(invite), .int4(orNull: retention.keepS), .int4(orNull: rules.threadCountMax32),
                .bool(rules.strangers == .invite),
            ], spending: rules.buckets)
        return try await made(rows)
    }

    /// Joins the room that is found by this key, or makes it.
    package func joinRoom(
        id: ThreadID, title: String, key: RoomKey, user: UserID, memberCountMax: Int, retention: Retention,
        rules: AdmissionRules
    ) async throws -> (created: Bool, thread: JSONText) {
        let rows = try await rows(
            Statement("room_join", "select * from room_join($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"),
            [
                .id(id), .id(user), .text(title), .text(key.text), .text(key.former), .int4(Int32(memberCountMax)),
                .int4(orNull: retention.keepS), .int4(orNull: rules.threadCountMax32),
            ], spending: rules.buckets)
        return try await made(rows)
    }

    private func made(_ rows: Rows) async throws -> (created: Bool, thread: JSONText) {
        guard let row = rows.first else { throw Problem(.internalError, "The database returned no row.") }
        return try await decoded { (try row.bool(0), try row.json(1)) }
    }

    package func rooms(prefix: RoomKey, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("room_list", "select * from room_list($1, $2, $3, $4, $5)"),
            [.text(prefix.text), .text(prefix.former)], request)
    }

    package func thread(_ thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json(Statement("thread_get", "select thread_get($1, $2)"), [.id(user), .id(thread)])
    }

    /// `changes` is an object of what to change, `roomKey` that of a new title.
    package func updateThread(
        _ thread: ThreadID, by user: UserID, changes: JSONText, roomKey: RoomKey?
    ) async throws -> (thread: JSONText, memberCount: Int) {
        let row = try await row(
            Statement("thread_update", "select thread_update($1, $2, $3, $4, $5), \(Self.memberCount)"),
            [.id(user), .id(thread), .json(changes), .text(orNull: roomKey?.text), .text(orNull: roomKey?.former)])
        return try await decoded { (try row.json(0), Int(try row.int4(1))) }
    }

    /// How many members the thread `$2` has, for calls that count by the members whom they reach.
    static let memberCount = "coalesce((select t.member_count from threads t where t.id = $2), 0)"

    /// The same of a change of members, of which rooms notify only those concerned.
    private static let membersNotified =
        "coalesce((select t.member_count from threads t where t.id = $2 and t.kind <> 'room'), 0)"

    package func members(of thread: ThreadID, for user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("member_list", "select * from member_list($1, $2, $3, $4, $5)"), [.id(user), .id(thread)], request
        )
    }

    /// Adds, invites, promotes; or with `actor == user` accepts an invitation or joins a room.
    package func putMember(
        _ user: UserID, in thread: ThreadID, by actor: UserID, role: MemberRole?, status: MemberStatus?, limits: Limits,
        rules: AdmissionRules
    ) async throws -> (member: JSONText, memberCount: Int) {
        let rows = try await rows(
            Statement(
                "member_put",
                "select member_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12), \(Self.membersNotified)"),
            [
                .id(actor), .id(thread), .id(user), .text(orNull: role?.rawValue), .text(orNull: status?.rawValue),
                .int4(Int32(limits.groupMemberCountMax)), .int4(Int32(limits.roomMemberCountMax)),
                .int4(orNull: rules.threadCountMax32), .bool(rules.strangers == .invite),
            ], spending: rules.buckets)
        guard let row = rows.first else { throw Problem(.internalError, "The database returned no row.") }
        return try await decoded { (try row.json(0), Int(try row.int4(1))) }
    }

    /// Removes, or with `actor == user` leaves. Returns how many members are notified.
    @discardableResult
    package func deleteMember(_ user: UserID, in thread: ThreadID, by actor: UserID) async throws -> Int {
        let row = try await row(
            Statement("member_delete", "select member_delete($1, $2, $3), \(Self.membersNotified)"),
            [.id(actor), .id(thread), .id(user)])
        return try await decoded { Int(try row.int4(1)) }
    }

    /// The caller's own view of a thread; `changes` is an object of what to change in it.
    package func updateSettings(of thread: ThreadID, for user: UserID, changes: JSONText) async throws -> JSONText {
        try await json(
            Statement("settings_update", "select settings_update($1, $2, $3)"),
            [.id(user), .id(thread), .json(changes)])
    }

    package func inbox(for user: UserID, unreadOnly: Bool, _ request: PageRequest) async throws -> InboxPage {
        let row = try await reads.row(
            Statement("inbox", "select * from inbox($1, $2, $3, $4, $5)"),
            [
                .id(user), .int4(Int32(request.limit)), .bool(unreadOnly), .int8(orNull: request.after?.boundedRank),
                .uuid(orNull: request.after?.id),
            ])
        return try await decoded {
            var next: PageKey?
            if let rank = try row.int8OrNull(4), let id = try row.uuidOrNull(5) { next = PageKey(rank: rank, id: id) }
            return InboxPage(
                threads: try row.json(0), unreadTotal: try row.int8(1),
                cursor: Cursor(epoch: try row.int4(3), position: Position(try row.int8(2))), next: next)
        }
    }
}

extension AdmissionRules {
    fileprivate var threadCountMax32: Int32? { threadCountMax.map { Int32($0) } }

    /// In SQL's order: new threads, then additions. Both or none.
    fileprivate var buckets: [SharedBucket] { [newThreads, additions].compactMap(\.self) }
}
