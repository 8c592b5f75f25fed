// Threads and rooms.
import Domain
import Postgres

extension Store {
    /// Creates a thread. For two people who have a direct thread, returns that thread, with `created` false. Throws the
    /// `KeptAnswer` of a request `once` that was done before.
    package func createThread(
        id: ThreadID, kind: ThreadKind, title: String?, roomKey: String?, creator: UserID, members: [UserID],
        invite: Bool, retention: Retention, appData: AppData = AppData(), rules: AdmissionRules = AdmissionRules(),
        once: IdempotentRequest? = nil
    ) async throws -> (created: Bool, body: JSONText) {
        try await spending(rules.buckets).create(
            Creation("thread_create", column: "thread"), once: once,
            [
                .id(id), .text(kind.rawValue), .text(orNull: title), .text(orNull: roomKey), .id(creator),
                .ids(members), .bool(invite), .int4(orNull: retention.keepS), .int4(orNull: rules.threadCountMax32),
                .bool(rules.strangers == .invite), .text(orNull: appData.custom??.text),
                .texts(appData.labels??.texts ?? []),
            ])
    }

    /// Joins the room with this key, or makes it. Throws as creating a thread does.
    package func joinRoom(
        id: ThreadID, title: String, key: RoomKey, user: UserID, memberCountMax: Int, retention: Retention,
        appData: AppData = AppData(), rules: AdmissionRules, once: IdempotentRequest? = nil
    ) async throws -> (created: Bool, body: JSONText) {
        try await spending(rules.buckets).create(
            Creation("room_join", column: "thread"), once: once,
            [
                .id(id), .id(user), .text(title), .text(key.text), .int(memberCountMax),
                .int4(orNull: retention.keepS), .int4(orNull: rules.threadCountMax32),
                .text(orNull: appData.custom??.text), .texts(appData.labels??.texts ?? []),
            ])
    }

    /// - Parameter labels: those that each room of the list has; empty for any.
    package func rooms(prefix: RoomKey, labels: [String] = [], _ request: PageRequest) async throws -> Page {
        try await reads.page(
            "room_list", [.text(prefix.text)], request, trailing: [.texts(orNull: labels.isEmpty ? nil : labels)])
    }

    package func thread(_ thread: ThreadID, for user: UserID) async throws -> JSONText {
        try await reads.json("thread_get", [.id(user), .id(thread)])
    }

    /// `changes` is an object of the members to change, `roomKey` the key of a new title.
    package func updateThread(
        _ thread: ThreadID, by user: UserID, changes: JSONText, roomKey: RoomKey?
    ) async throws -> (thread: JSONText, memberCount: Int) {
        try await row(
            ValueFunction(name: "thread_update", with: Self.memberCount),
            [.id(user), .id(thread), .json(changes), .text(orNull: roomKey?.text)]
        ) { (try $0.json(0), Int(try $0.int4(1))) }
    }

    /// The number of members of the thread `$2`, for limits that count the members whom a call reaches.
    static let memberCount = "coalesce((select t.member_count from threads t where t.id = $2), 0)"
}
