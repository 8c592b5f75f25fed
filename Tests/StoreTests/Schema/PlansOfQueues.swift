// Plans for alerts, receipts and presence are often made while the tables are nearly empty, as they usually are. They
// must stay cheap when the tables are not.
import Store
import TestSupport
import Testing

@Suite("Plans of queues: alerts, receipts and presence", .timeLimit(.minutes(1)))
struct PlansOfQueues {
    /// `fill(a, b)`: accounts a to b with a device each, in a thread each where the service's user has written one
    /// message.
    private static let people = """
        create function account(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
        create function thread(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0002-' || lpad(n::text, 12, '0'))::uuid $$;
        create function device(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0003-' || lpad(n::text, 12, '0'))::uuid $$;
        create function fill(a int, b int) returns void language sql as $$
            insert into users (id, username, username_key, name, created_at)
            select account(n), 'u' || n, 'u' || n, 'U', now() from generate_series(a, b) n;
            insert into threads (id, kind, created_at, member_count)
            select thread(n), 'group', now(), 1 from generate_series(a, b) n;
            insert into members (thread_id, user_id, role, status)
            select thread(n), account(n), 'owner', 'joined' from generate_series(a, b) n;
            insert into membership_spans (user_id, thread_id, from_pos)
            select account(n), thread(n), 1 from generate_series(a, b) n;
            insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
            select thread(n), 1, gen_random_uuid(), account(0), 'message', '{"text":"hi"}', now(), 1
            from generate_series(a, b) n;
            insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
            select device(n), account(n), 'apns', 'a' || n, ('a' || n)::bytea, 'production', now(), 0
            from generate_series(a, b) n;
            insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
            select device(n), 1, gen_random_uuid(), 'apns', thread(n), 1, now() - interval '1 min', now() - interval '1 min'
            from generate_series(a, b) n;
            insert into device_polls (session_id, user_id, node, from_pos)
            select device(1000 + n), account(1000 + n), 'n', 0 from generate_series(a, b) n;
            insert into presence (user_id, node) select account(n), 'n' from generate_series(a, b) n;
            insert into receipt_news (thread_id, user_id, since)
            select thread(n), account(n), stamp() from generate_series(a, b) n;
        $$;
        create function happen(n int, first bigint) returns void language sql as $$
            insert into events (pos, at, type, thread_id, seq, actor_id, body)
            select first, now(), 'message.created', thread(n), 1, account(0), '{}';
        $$;
        create function gone(n int) returns void language sql as $$
            insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
            select device(1000 + n), account(n), 'fcm', 'b' || n, ('b' || n)::bytea, 'production', now(), 0;
            update device_polls set node = '', user_id = account(n) where session_id = device(1000 + n);
            update push_state set pos = 5;
        $$;
        insert into users (id, username, username_key, name, created_at) values (account(0), 's', 's', 'S', now());
        insert into presence_nodes (node, seen_at, pos) values ('n', now(), 0);
        """

    /// - Parameters:
    ///   - call: SQL about account `n` that returns a text.
    ///   - prepared: SQL that is run before the call.
    /// - Returns: the call's result, how many rows it read, and of which tables.
    private func rowsRead(by call: String, after prepared: String) async throws -> (
        result: Substring, count: Int, tables: Substring
    ) {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            Self.people + """
                select from fill(1, 1);
                vacuum analyze;
                \(Psql.plannerSettings)
                set plan_cache_mode = force_generic_plan;
                create function prepare(n int) returns void language plpgsql as $$ begin \(prepared) end $$;
                create function call(n int) returns text language plpgsql as $$ begin return concat('=', \(call)); end $$;
                -- The plans are made. What was done is undone, so that it can be done again.
                begin;
                select from prepare(1);
                select from call(1);
                rollback;
                select from fill(2, 500);
                select from prepare(300);
                select from pg_stat_force_next_flush();
                begin;
                select call(300);
                select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), string_agg(relname || ' '
                    || coalesce(idx_tup_fetch, 0) + seq_tup_read, ', ' order by idx_tup_fetch desc) filter (where idx_scan > 0)
                from pg_stat_xact_user_tables;
                rollback;
                """, conninfo: database)
        let lines = found.split(separator: "\n").suffix(2)
        let figures = lines.last?.split(separator: "|") ?? []
        let count = try #require(figures.first.flatMap { Int($0) }, "\(found)")
        return (lines.first?.dropFirst() ?? "", count, figures.last ?? "")
    }

    @Test(
        "read the rows of one device, and not of all waiting devices",
        arguments: [
            ("", "(select string_agg(outcome, ' ') from push_claim('apns', 2, 60, 3600))", "send send"),
            (
                "update members set muted_until = 'infinity' where user_id = account(n) or n = 300;",
                "(select string_agg(outcome, ' ') from push_claim('apns', 2, 60, 3600))", "muted muted"
            ),
            ("", "(select string_agg(outcome, ' ') from push_claim('apns', 2, 60, 1))", "expired expired"),
            ("", "push_expire('apns', 2, 1)", "2"),
            (
                "",
                """
                push_settle(array[device(n)], array[1::bigint], array[0], array['retry'], array[10::bigint], array[0::bigint])
                """, "0"
            ),
            (
                "",
                """
                push_settle(array[device(n)], array[1::bigint], array[0], array['done'], array[0::bigint], array[0::bigint])
                """, "0"
            ),
            (
                "",
                """
                push_settle(array[device(n)], array[1::bigint], array[0], array['forget'], array[0::bigint],
                    array[99999999999999::bigint])
                """, "1"
            ),
            ("", "push_target_delete(device(n))", ""),
            ("", "device_poll_put('n', array[device(n)], array[account(n)], array[0::bigint], '{}', '{}')", ""),
            ("", "device_poll_put('n', '{}', '{}', '{}', array[device(1000 + n)], array[1::bigint])", ""),
            ("", "(select sum(total) from unread_totals(array[account(n)]))", "1"),
            ("", "(select count(*) from receipt_publish(array[thread(n)]))", "1"),
            (
                "update receipt_news set since = stamp() - interval '2 s' where thread_id = thread(n);",
                "(select count(*) from receipt_publish(array[thread(n)]))", "0"
            ),
            ("", "receipt_deliver(array[account(n)], array[thread(n)], array[1::bigint])", ""),
            ("", "(select count(*) from presence_put('n', '{}', array[account(n)], array[0::bigint]))", "1"),
            ("", "(select count(*) from presence_put('m', array[account(n)], '{}', array[0::bigint]))", "0"),
            // For a device that polls, and for one that has gone.
            ("perform happen(n, 5);", "(select made from push_plan(10))", "1"),
            ("perform happen(n, 5); perform gone(n);", "(select made from push_plan(10))", "1"),
        ])
    func rows(_ prepared: String, _ call: String, _ expected: String) async throws {
        // Reading 201 devices shows whether there are more than 200.
        let countMax = call.contains("push_plan") ? 250 : 50
        let (result, count, tables) = try await rowsRead(by: call, after: prepared)
        #expect(result == expected && count < countMax, "\(result), \(tables)")
    }
}
