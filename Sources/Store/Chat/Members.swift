// Members of threads.
import Domain
import Postgres

extension Store {
    /// How many members a change of a member notifies: 0 in rooms, which notify only the people concerned.
    private static let membersNotified =
        "coalesce((select t.member_count from threads t where t.id = $2 and t.kind <> 'room'), 0)"

    package func members(of thread: ThreadID, for user: UserID, _ request: PageRequest) async throws -> Page {
        try await reads.page(
            Statement("member_list", "select * from member_list($1, $2, $3, $4, $5)"), [.id(user), .id(thread)], request
        )
    }

    /// Adds, invites or promotes; with `actor == user` accepts an invitation or joins a room.
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

    /// Removes a member, or with `actor == user` leaves. Returns how many members are notified.
    @discardableResult
    package func deleteMember(_ user: UserID, in thread: ThreadID, by actor: UserID) async throws -> Int {
        let row = try await row(
            Statement("member_delete", "select member_delete($1, $2, $3), \(Self.membersNotified)"),
            [.id(actor), .id(thread), .id(user)])
        return try await decoded { Int(try row.int4(1)) }
    }
}
