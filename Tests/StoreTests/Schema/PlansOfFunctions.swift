// Plans must not depend on statistics: these are of all threads together, and one thread may differ from all others.
import Postgres
import Store
import TestSupport
import Testing

@Suite("Plans of the database's functions", .timeLimit(.minutes(1)))
struct PlansOfFunctions {
    private static let ann = "00000000-0000-0000-0000-000000000001"
    private static let thread = "00000000-0000-0000-0000-000000000002"
    private static let ben = "00000000-0000-0000-0000-000000000003"

    /// A group of Ann and Ben.
    private static let people = """
        insert into users (id, username, username_key, name, created_at)
        values ('\(ann)', 'ann', 'ann', 'Ann', now()), ('\(ben)', 'ben', 'ben', 'Ben', now());
        insert into threads (id, kind, created_at, member_count) values ('\(thread)', 'group', now(), 2);
        insert into members (thread_id, user_id, role, status)
        values ('\(thread)', '\(ann)', 'owner', 'joined'), ('\(thread)', '\(ben)', 'member', 'joined');
        """

    /// A clause costs each call a microsecond. `unread_totals` is called by push_claim, which joins by hashes.
    @Test("have a session's planner settings without a clause, except in functions for other programs")
    func clauses() async throws {
        let off = SessionSettings.planner.map { "'\($0)=off'" }.joined(separator: ", ")
        let found = try await Psql.run(
            """
            select string_agg(p.proname, ' ') from pg_proc p
            where p.pronamespace = 'public'::regnamespace and p.proconfig && array[\(off)];
            select string_agg(p.proname, ' ' order by p.proname) from pg_proc p
            where p.pronamespace = 'parley'::regnamespace and p.proconfig @> array[\(off)];
            """, conninfo: try await MigratedDatabase.create())
        #expect(found == "unread_totals\nadd_member ensure_direct send")
    }

    /// By the statistics a thread has one message. So reading all messages of the thread seems as cheap as looking up
    /// the id.
    @Test("looking up a message's id takes the same time for any number of messages in its thread")
    func idLookUp() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            Self.people + """
                insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                select case when n > 54000 then '\(Self.thread)'
                        else ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid end,
                    greatest(1, n - 54000), gen_random_uuid(), '\(Self.ann)', 'message', '{"text":"hi"}', now(), n
                from generate_series(1, 54500) n;
                vacuum analyze messages;
                -- As many databases have it. The index of ids is the taller one.
                set random_page_cost = 1.1;
                \(Psql.plannerSettings)
                begin;
                select outcome, seq from message_append(
                    array[gen_random_uuid()], array['\(Self.thread)'::uuid], array['\(Self.ann)'::uuid], array['message'],
                    array['{"text":"hi"}'::json], array[null::uuid], array['{}'], array[500::bigint]);
                select idx_tup_fetch < 20 from pg_stat_xact_user_tables where relname = 'messages';
                rollback;
                """, conninfo: database)
        #expect(found == "created|501\nt")
    }

    /// After a vacuum of an empty table every index seems as good as any other. The plan made then is kept when the
    /// thread has grown.
    /// - Parameters:
    ///   - sender: the sender of the 500 messages that the thread then has, each with its own word, `w1` to `w500`.
    ///   - prepared: SQL that is run before the call.
    /// - Returns: how many rows of messages and of the log the call reads.
    private func rowsRead(by call: String, messagesOf sender: String, after prepared: String = "") async throws -> Int {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            Self.people + """
                vacuum messages, events, message_words;
                \(Psql.plannerSettings)
                set plan_cache_mode = force_generic_plan;
                create function call(last uuid, ann uuid = '\(Self.ann)', thread uuid = '\(Self.thread)') returns void
                language plpgsql as $$
                begin
                    perform \(call);
                exception when others then
                    raise notice '%', sqlerrm;
                end $$;
                create function fill(count int) returns void language sql as $$
                    insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                    select '\(Self.thread)', n, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, '\(sender)',
                        'message', ('{"text":"w' || n || '"}')::json, now(), n
                    from generate_series(1, count) n;
                    insert into events (pos, at, type, thread_id, seq, body)
                    select n, now(), 'message.created', '\(Self.thread)', n, '{}'
                    from generate_series(1, count) n;
                $$;
                -- The plans are made. What was done is undone, so that it can be done again.
                begin;
                select from fill(1);
                select from call('00000000-0000-0000-0000-000000000001');
                rollback;
                select from fill(500);
                \(prepared);
                begin;
                select from call('00000000-0000-0000-0000-000000000500');
                select sum(idx_tup_fetch + seq_tup_read) from pg_stat_xact_user_tables
                where relname = 'messages' or relname like 'events%';
                rollback;
                """, conninfo: database)
        return try #require(Int(found.split(separator: "\n").last ?? ""), "\(found)")
    }

    @Test(
        "a plan made for an empty table looks up the id, and does not read the thread",
        arguments: [
            "message_get(ann, thread, last)", "message_delete(ann, thread, last)", "message_hide(ann, thread, last)",
            "message_edit(ann, thread, last, '{\"text\":\"ho\"}')", "message_receipts(ann, thread, last)",
            "message_edit_list(ann, thread, last, 5, null, null)",
            "reaction_put(ann, thread, last, '👍', 20)", "reaction_list(ann, thread, last, '👍', 5, null, null)",
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
        #expect(try await rowsRead(by: call, messagesOf: Self.ann) < 20)
    }

    @Test(
        "counting for a member who has read and sent nothing does not read the thread",
        arguments: [
            "thread_get(ann, thread)", "inbox(ann, 30, false, null, null)", "unread_put(ann, thread, 1)",
            "settings_update(ann, thread, '{\"pinned\":true}')",
            "receipt_put(array[ann], array[thread], array[499::bigint], array[null::bigint])",
            "receipt_deliver(array[ann], array[null::uuid], array[500::bigint])",
            "member_put(ann, thread, '\(PlansOfFunctions.ben)', 'admin', null, 1000, 1000)",
            "thread_update(ann, thread, '{\"title\":\"x\"}', null)",
        ])
    func countsAfterVacuum(_ call: String) async throws {
        #expect(try await rowsRead(by: call, messagesOf: Self.ben) < 20)
    }

    @Test("neither search nor a pass of the index reads the whole thread")
    func searchAfterVacuum() async throws {
        let indexed = """
            update search_state set pos = 490;
            insert into message_words select '\(Self.thread)', 'w' || n, n from generate_series(1, 490) n
            """
        // Matching messages are read twice: in their thread, and for the snippet.
        for (call, countMax) in [
            ("message_search(ann, null, 'w12', 5, null, null)", 40),
            ("message_search(ann, thread, 'w', 5, null, null)", 40), ("search_index(100)", 40),
        ] {
            let count = try await rowsRead(by: call, messagesOf: Self.ben, after: indexed)
            #expect((10..<countMax).contains(count), "\(call)")
        }
    }

    /// As many people have left as are members: former members must not be read either.
    @Test("joining, leaving and paging through a room of 20,000 costs no more than in a small room")
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
            \(Psql.plannerSettings)
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

    /// The first plan is made for empty tables.
    @Test("a label is looked up by an index among 20,000 rooms")
    func labels() async throws {
        let database = try await MigratedDatabase.create()
        let id = "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid"
        let fetched = """
            select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) from pg_stat_xact_user_tables
            where relname in ('threads', 'members', 'messages')
            """
        let found = try await Psql.lines(
            """
            insert into users (id, name, created_at) values ('\(Self.ann)', 'Ann', now());
            \(Psql.plannerSettings)
            set plan_cache_mode = force_generic_plan;
            select count(*) from room_list('', 31, null, null, '{few}');
            insert into threads (id, kind, title, room_key, created_at, member_count, labels)
            select \(id), 'room', 'R' || n, 'r' || n, now(), 1,
                case when n % 2000 = 7 then '{many,few}'::text[] when n % 3 = 0 then '{many}' end
            from generate_series(1, 20000) n;
            insert into members (thread_id, user_id, role, status, labels)
            select \(id), '\(Self.ann)', 'owner', 'joined', case when n % 500 = 5 then '{own}'::text[] end
            from generate_series(1, 2000) n;
            analyze threads, members;
            begin;
            select count(*) from room_list('', 31, null, null, '{few}');
            select (\(fetched)) < 20;
            rollback;
            """, in: database)
        #expect(found == ["0", "10", "t"])
    }

    /// Labels are read per thread, by the thread's key: a label that is rare costs a row more for each thread.
    @Test("an inbox of 5,000 threads by a label reads at most twice the rows of the whole inbox, all by indexes")
    func labelledInbox() async throws {
        let id = "('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid"
        let found = try await Psql.lines(
            Self.people + """
                insert into threads (id, kind, title, created_at, member_count, labels)
                select \(id), 'group', 'G' || n, now(), 2, case when n % 500 = 7 then '{rare}'::text[] end
                from generate_series(1, 5000) n;
                insert into members (thread_id, user_id, role, status, read_seq, labels)
                select \(id), '\(Self.ann)', 'owner', 'joined', n % 2, case when n % 3 = 0 then '{mine}'::text[] end
                from generate_series(1, 5000) n;
                insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
                select \(id), 1, gen_random_uuid(), '\(Self.ben)', 'message', '{"text":"hi"}', now() - n * interval '1 s', n
                from generate_series(1, 5000) n;
                vacuum analyze threads, members, messages;
                \(Psql.plannerSettings)
                create function rows_read(out total bigint, out by_scans bigint) language sql as $$
                    select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), sum(seq_tup_read) from pg_stat_xact_user_tables
                $$;
                -- The number of threads, the rows read, and those read without an index.
                create function cost(p_labels text[]) returns table (shown int, total bigint, by_scans bigint)
                language plpgsql as $$
                declare
                    v_before record;
                begin
                    perform inbox('\(Self.ann)', 30, false, null, null, p_labels);
                    select * into v_before from rows_read();
                    select json_array_length(i.threads::json) into shown
                    from inbox('\(Self.ann)', 30, false, null, null, p_labels) i;
                    select r.total - v_before.total, r.by_scans - v_before.by_scans into total, by_scans from rows_read() r;
                    return next;
                end $$;
                select * from cost(null);
                select * from cost('{rare}');
                select * from cost('{mine}');
                select * from cost('{mine,rare}');
                select * from cost('{nobody}');
                """)
        let costs = found.map { $0.split(separator: "|").compactMap { Int($0) } }
        try #require(costs.count == 5 && costs.allSatisfy { $0.count == 3 }, "\(found)")
        #expect(costs.map { $0[0] } == [30, 10, 30, 3, 0], "\(found)")
        for cost in costs {
            #expect(cost[2] == 0 && cost[1] <= 2 * costs[0][1], "\(found)")
        }
    }
}
