// Threads and rooms.
import Domain
import Postgres

extension Store {
    /// Creates a thread. For two people who have a direct thread, returns that thread, with `created` false.
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

    /// Joins the room with this key, or makes it.
    package func joinRoom(
        id: ThreadID, title: String, key: RoomKey, user: UserID, memberCountMax: Int, retention: Retention,
        rules: AdmissionRules
    ) async throws -> (created: Bool, thread: JSONText) {
        let rows = try await rows(
            Statement("room_join", "select * from room_join($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
            [
                .id(id), .id(user), .text(title), .text(key.text), .int4(Int32(memberCountMax)),
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
            Statement("room_list", "select * from room_list($1, $2, $3, $4)"), [.text(prefix.text)], request)
    }

    package func thread(_ thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json(Statement("thread_get", "select thread_get($1, $2)"), [.id(user), .id(thread)])
    }

    /// `changes` is an object of the members to change, `roomKey` the key of a new title.
    package func updateThread(
        _ thread: ThreadID, by user: UserID, changes: JSONText, roomKey: RoomKey?
    ) async throws -> (thread: JSONText, memberCount: Int) {
        let row = try await row(
            Statement("thread_update", "select thread_update($1, $2, $3, $4), \(Self.memberCount)"),
            [.id(user), .id(thread), .json(changes), .text(orNull: roomKey?.text)])
        return try await decoded { (try row.json(0), Int(try row.int4(1))) }
    }

    /// The number of members of the thread `$2`, for limits that count the members whom a call reaches.
    static let memberCount = "coalesce((select t.member_count from threads t where t.id = $2), 0)"

}
