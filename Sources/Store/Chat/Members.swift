// Members of threads.
import Domain
import Postgres

extension Store {
    /// How many members a change of a member notifies: 0 in rooms, which notify only the people concerned.
    private static let membersNotified =
        "coalesce((select t.member_count from threads t where t.id = $2 and t.kind <> 'room'), 0)"

    package func members(of thread: ThreadID, for user: UserID, _ request: PageRequest) async throws -> Page {
        try await replica.page("member_list", [.id(user), .id(thread)], request)
    }

    /// Adds, invites or promotes; with `actor == user` accepts an invitation or joins a room.
    package func putMember(
        _ user: UserID, in thread: ThreadID, by actor: UserID, role: MemberRole?, status: MemberStatus?, limits: Limits,
        rules: AdmissionRules
    ) async throws -> (member: JSONText, memberCount: Int) {
        try await spending(rules.buckets).row(
            ValueFunction(name: "member_put", with: Self.membersNotified),
            [
                .id(actor), .id(thread), .id(user), .text(orNull: role?.rawValue), .text(orNull: status?.rawValue),
                .int(limits.groupMemberCountMax), .int(limits.roomMemberCountMax),
                .int4(orNull: rules.threadCountMax32), .bool(rules.strangers == .invite),
            ]
        ) { (try $0.json(0), Int(try $0.int4(1))) }
    }

    /// Removes a member, or with `actor == user` leaves. Returns how many members are notified.
    @discardableResult
    package func deleteMember(_ user: UserID, in thread: ThreadID, by actor: UserID) async throws -> Int {
        try await row(
            ValueFunction(name: "member_delete", with: Self.membersNotified),
            [.id(actor), .id(thread), .id(user)]
        ) { Int(try $0.int4(1)) }
    }
}
