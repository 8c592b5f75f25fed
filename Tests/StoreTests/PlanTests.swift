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

    /// With `messages` vacuumed while it was empty, every index seems to do as well as any other; the plan that was made
    /// then is kept when the thread has grown.
    @Test(
        "a plan made for an empty table looks an id up and not a thread through",
        arguments: [
            "message_get(ann, thread, last)", "message_delete(ann, thread, last)", "message_hide(ann, thread, last)",
            "message_edit(ann, thread, last, '{\"text\":\"ho\"}')", "message_receipts(ann, thread, last)",
            "reaction_put(ann, thread, last, '👍', 20)",
            "message_page(ann, thread, null, last, null, null, null, null, 5)",
            """
            message_append(array[last], array[thread], array[ann], array['message'], array['{"text":"hi"}'::json],
                array[null::uuid], array['{}'], array[500::bigint])
            """,
            """
            message_append(array[gen_random_uuid()], array[thread], array[ann], array['message'],
                array['{"text":"hi"}'::json], array[last], array[array[ann]::text], array[500::bigint])
            """,
        ])
    func idLookUpAfterVacuum(_ call: String) async throws {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at)
            values ('00000000-0000-0000-0000-000000000001', 'ann', 'ann', 'Ann', now());
            insert into threads (id, kind, created_at) values ('00000000-0000-0000-0000-000000000002', 'group', now());
            insert into members (thread_id, user_id, role, status)
            values ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'owner', 'joined');
            vacuum messages;
            set plan_cache_mode = force_generic_plan;
            create function call(last uuid, ann uuid = '00000000-0000-0000-0000-000000000001',
                thread uuid = '00000000-0000-0000-0000-000000000002') returns void language plpgsql as $$
            begin
                perform \(call);
            exception when others then
                raise notice '%', sqlerrm;
            end $$;
            create function fill(count int) returns void language sql as $$
                insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                select '00000000-0000-0000-0000-000000000002', n, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
                    '00000000-0000-0000-0000-000000000001', 'message', '{"text":"hi"}', now(), n
                from generate_series(1, count) n;
            $$;
            -- The plans are made. What was done is undone, so that it can be done again.
            begin;
            select from fill(1);
            select from call('00000000-0000-0000-0000-000000000001');
            rollback;
            select from fill(500);
            begin;
            select from call('00000000-0000-0000-0000-000000000500');
            select idx_tup_fetch + seq_tup_read < 20, idx_tup_fetch, seq_tup_read
            from pg_stat_xact_user_tables where relname = 'messages';
            rollback;
            """, conninfo: database)
        #expect(found.hasPrefix("t|"), "\(found) rows")
    }
}
