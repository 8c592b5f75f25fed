// A change of a membership must not change the member's marks, which may move at the same time.
import Store
import TestSupport
import Testing

@Suite("A change of a member", .timeLimit(.minutes(1)))
struct ChangingAMember {
    @Test("keeps a read mark that a simultaneous receipt has moved")
    func keepsMarks() async throws {
        let database = try await MigratedDatabase.create()
        let (ann, bob) = ("00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b")
        let thread = "00000000-0000-0000-0000-00000000000c"
        try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at)
            values ('\(ann)', 'ann', 'ann', 'Ann', now()), ('\(bob)', 'bob', 'bob', 'Bob', now());
            select thread_create('\(thread)', 'group', 'Group', null, '\(ann)', '{\(bob)}', false);
            select * from message_append(array[gen_random_uuid()], array['\(thread)'::uuid], array['\(ann)'::uuid],
                array['message'], array['{"text":"hi"}'::json], array[null::uuid], array['{}']);
            """, conninfo: database)
        async let reading = Psql.run(
            """
            begin;
            select outcome from receipt_put(array['\(bob)'::uuid], array['\(thread)'::uuid], array[1::bigint], array[null::bigint]);
            \(Psql.sleep)
            commit;
            """, conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        async let promoting = Psql.run(
            "select member_put('\(ann)', '\(thread)', '\(bob)', 'admin', null, 1000, 1000)", conninfo: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await (reading, promoting)
        let found = try await Psql.run(
            "select role, read_seq from members where user_id = '\(bob)'", conninfo: database)
        #expect(found == "admin|1")
    }
}
