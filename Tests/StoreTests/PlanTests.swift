// What a plan must not depend on: statistics are of all threads together, and one thread may be unlike the rest.
import Postgres
import Store
import TestSupport
import Testing

@Suite("Plans of the database's functions")
struct PlanTests {
    /// By the statistics a thread has one message, so that looking for a message among all of its thread seems to cost no
    /// more than looking for its id.
    @Test("a message's id is looked up in the same time however many messages its thread has")
    func idLookUp() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at)
            values ('00000000-0000-0000-0000-000000000001', 'ann', 'ann', 'Ann', now());
            insert into threads (id, kind, created_at) values ('00000000-0000-0000-0000-000000000002', 'group', now());
            insert into members (thread_id, user_id, role, status)
            values ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'owner', 'joined');
            insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
            select case when n > 5000 then '00000000-0000-0000-0000-000000000002' else gen_random_uuid() end,
                greatest(1, n - 5000), gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'message',
                '{"text":"hi"}', now(), n
            from generate_series(1, 5500) n;
            analyze messages;
            begin;
            select outcome, seq from message_append(
                array[gen_random_uuid()], array['00000000-0000-0000-0000-000000000002'::uuid],
                array['00000000-0000-0000-0000-000000000001'::uuid], array['message'], array['{"text":"hi"}'::json],
                array[null::uuid], array['{}'], array[500::bigint]);
            select idx_tup_fetch < 20 from pg_stat_xact_user_tables where relname = 'messages';
            rollback;
            """, conninfo: database)
        #expect(found == "created|501\nt")
    }
}
