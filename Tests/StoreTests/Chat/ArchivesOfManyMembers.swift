// Archives of a room's members, and messages to it, by the database alone.
import Store
import TestSupport
import Testing

@Suite("Archives of many members", .timeLimit(.minutes(1)))
struct ArchivesOfManyMembers {
    @Test("lose a room by the hundred, and a message does not read the members who keep it there")
    func byTheHundred() async throws {
        let room = "00000000-0000-0000-0000-0000000000aa"
        let found = try await Psql.lines(
            """
            create function person(n int) returns uuid language sql as $$
                select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
            insert into users (id, name, created_at) select person(n), 'n', now() from generate_series(1, 5000) n;
            insert into threads (id, kind, title, room_key, created_at, member_count, has_archived)
            values ('\(room)', 'room', 'R', 'r', now(), 5000, true);
            insert into members (thread_id, user_id, role, status, joined_at, archived, notify, muted_until)
            select '\(room)', person(n), case n when 1 then 'owner' else 'member' end, 'joined', now(), n > 1,
                case when n % 3 = 0 then 'none' end, case when n % 3 = 1 then 'infinity'::timestamptz end
            from generate_series(1, 5000) n;
            update members set archived = false where user_id > person(450) and notify is null and muted_until is null;
            create function say() returns bigint language sql as $$
                select a.seq from message_append(array[gen_random_uuid()], array['\(room)'::uuid], array[person(1)],
                    array['message'], array['{"text":"hi"}'::json], array[null::uuid], null) a $$;
            create function found() returns text language sql as $$
                select (select count(*) from events where type = 'settings.updated') || ' '
                    || (select count(distinct user_id) from events where type = 'settings.updated') || ' '
                    || (select count(*) from members where archived and notify is null and muted_until is null) $$;
            \(Psql.plannerSettings)
            select found();
            select say();
            select found();
            select say();
            select found();
            begin;
            create function members_read() returns bigint language sql as $$
                select sum(idx_tup_fetch + seq_tup_read) from pg_stat_xact_user_tables where relname = 'members' $$;
            create temporary table before as select members_read() as count;
            select say();
            select members_read() - b.count < 50 from before b;
            commit;
            select found(), (select has_archived from threads);
            """)
        #expect(
            found == ["0 0 150", "1", "100 100 50", "2", "150 150 0", "3", "t", "150 150 0|t"], "\(found)")
    }
}
