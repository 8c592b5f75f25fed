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

    /// As many have left as are there: those who are gone must not be walked through either.
    @Test("a room of 20,000 costs who joins, leaves and pages through it no more than a small one")
    func rooms() async throws {
        let database = try await MigratedDatabase.create()
        let fetched = "select idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables where relname = 'members'"
        let user = "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid"
        let room = "00000000-0000-0000-0000-0000000000aa"
        let joiner = "00000000-0000-0000-0000-000000040000"
        let owner = "00000000-0000-0000-0000-000000000001"
        let found = try await Psql.run(
            """
            insert into users (id, name, created_at) select \(user), 'n', now() from generate_series(1, 40000) n;
            insert into threads (id, kind, title, room_key, created_at, member_count)
            values ('\(room)', 'room', 'R', 'r', now(), 20000);
            insert into members (thread_id, user_id, role, status, joined_at)
            select '\(room)', \(user), case when n <= 2 then 'owner' else 'member' end,
                case when n <= 20000 then 'joined' else 'left' end, now()
            from generate_series(1, 39999) n;
            analyze members;
            begin;
            select left(member_put('\(joiner)', '\(room)', '\(joiner)', null, 'joined', 1000, 100000), 0);
            select 'join', (\(fetched)) < 40, count(*) from events;
            commit;
            begin;
            select left(thread_update('\(owner)', '\(room)', '{"title":"Q"}', 'q'), 0);
            select 'rename', (\(fetched)) < 40;
            commit;
            begin;
            select member_delete('\(joiner)', '\(room)', '\(joiner)');
            select 'leave', (\(fetched)) < 60;
            commit;
            begin;
            select 'page', count(*) from member_list('00000000-0000-0000-0000-000000000003', '\(room)', 31, 2,
                '00000000-0000-0000-0000-000000010000');
            select 'page', (\(fetched)) < 200;
            commit;
            begin;
            select 'last page', count(*) from member_list('00000000-0000-0000-0000-000000000003', '\(room)', 31, 2,
                '00000000-0000-0000-0000-000000020000');
            select 'last page', (\(fetched)) < 50;
            commit;
            begin;
            select 'page of an owner', count(*) from member_list('\(owner)', '\(room)', 31, null, null);
            select 'page of an owner', (\(fetched)) < 200;
            commit;
            """, conninfo: database)
        #expect(
            found.split(separator: "\n").filter { !$0.isEmpty } == [
                "join|t|4", "rename|t", "leave|t", "page|31", "page|t", "last page|0", "last page|t",
                "page of an owner|31", "page of an owner|t",
            ])
    }
}
