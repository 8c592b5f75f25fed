// Claiming and settling alerts, by the database alone: time is a parameter.
import Store
import TestSupport
import Testing

@Suite("Claiming alerts", .timeLimit(.minutes(1)))
struct ClaimingAlerts {
    /// Ann and Ben in a group, where Ann has sent five messages; Ben's device has a job for each of them.
    private static let people = """
        insert into users (id, username, username_key, name, created_at) select
            ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'u' || n, 'u' || n, 'User ' || n, now()
            from generate_series(1, 2) n;
        select from thread_create('00000000-0000-0000-0000-00000000000f', 'group', 'g', null,
            '00000000-0000-0000-0000-000000000001', '{00000000-0000-0000-0000-000000000002}', false);
        create function ann() returns uuid language sql as $$ select '00000000-0000-0000-0000-000000000001'::uuid $$;
        create function ben() returns uuid language sql as $$ select '00000000-0000-0000-0000-000000000002'::uuid $$;
        create function g() returns uuid language sql as $$ select '00000000-0000-0000-0000-00000000000f'::uuid $$;
        create function device(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0001-00000000000' || n)::uuid $$;
        create function said(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0002-00000000000' || n)::uuid $$;
        select from generate_series(1, 5) n cross join lateral message_append(array[said(n)], array[g()], array[ann()],
            array['message'], array[json_build_object('text', 'text ' || n)], array[null::uuid], array['{}']);
        insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
        values (device(1), ben(), 'apns', 'a1', 'a1', 'production', '2030-01-01T00:00Z', 0);
        insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
        select device(1), m.pos, m.id, 'apns', m.thread_id, m.seq, '2030-01-01T10:00Z',
            case when m.id = said(1) then '2030-01-01T10:00Z'::timestamptz else 'infinity' end
        from messages m where m.type = 'message';
        create function claim(at text) returns text language sql as $$
            select string_agg(concat_ws(' ', c.outcome, c.number, case when c.outcome = 'send' then
                concat_ws(' ', c.body, c.attempt, c.badge, c.read_upto) end), ',')
            from push_claim('apns', 10, 60, 3600, ('2030-01-01T' || at || 'Z')::timestamptz) c
        $$;
        create function settle(outcome text, n int, wait_ms int, at text, registered text default '2030-01-01T00:00Z')
        returns int language sql as $$
            select push_settle(array[device(1)], array[(select m.pos from messages m where m.id = said(n))],
                array[(select j.attempt from push_jobs j join messages m on m.pos = j.pos where m.id = said(n))],
                array[outcome], array[wait_ms::bigint],
                array[extract(epoch from registered::timestamptz)::bigint * 1000],
                ('2030-01-01T' || at || 'Z')::timestamptz)
        $$;

        """

    private func run(_ sql: String) async throws -> [String] {
        try await Psql.lines(Self.people + sql, keepingEmpty: true)
    }

    @Test("one at a time for each device, and for one node until it is settled or the lease ends")
    func order() async throws {
        let found = try await run(
            """
            select claim('09:59:59') is null;
            select claim('10:00:00');
            select claim('10:00:59') is null;
            select claim('10:01:00');
            select settle('done', 1, 0, '10:01:01');
            select claim('10:01:01');
            """)
        #expect(found.suffix(6) == ["t", "send 1 text 1 1 5", "t", "send 1 text 1 2 5", "0", "send 1 text 2 1 5"])
    }

    @Test("retries when it is time, and does not count an alert that was not sent as an attempt")
    func retries() async throws {
        let found = try await run(
            """
            select claim('10:00:00');
            select settle('retry', 1, 5000, '10:00:01');
            select claim('10:00:05') is null;
            select claim('10:00:06');
            select settle('defer', 1, 1000, '10:00:06');
            select claim('10:00:07');
            """)
        #expect(found.suffix(6) == ["send 1 text 1 1 5", "0", "t", "send 1 text 1 2 5", "0", "send 1 text 1 2 5"])
    }

    @Test("drops alerts that are pointless now, and makes the next one due at once")
    func suppressions() async throws {
        let found = try await run(
            """
            select message_delete(ann(), g(), said(1));
            select claim('10:00:00');
            select message_hide(ben(), g(), said(2));
            select claim('10:00:00');
            select settings_update(ben(), g(), '{"muted_until": "2031-01-01T00:00:00Z"}');
            select claim('10:00:00');
            select count(*) from push_jobs;
            """)
        #expect(found.filter { !$0.isEmpty && $0.count < 20 }.suffix(4) == ["deleted 1", "hidden 1", "muted 3", "0"])
    }

    @Test("drops alerts of messages that do not mention a member who then wants only mentions, or none")
    func levels() async throws {
        let found = try await run(
            """
            update messages set mentions = array[ben()] where id = said(2);
            select settings_update(ben(), g(), '{"notify": "mentions"}');
            select claim('10:00:00');
            select claim('10:00:00');
            select settle('done', 2, 0, '10:00:01');
            select settings_update(ben(), g(), '{"notify": "none"}');
            select claim('10:00:02');
            select count(*) from push_jobs;
            """)
        let answers = found.filter { !$0.isEmpty && $0.count < 20 && !$0.hasPrefix("{") }
        #expect(answers.suffix(5) == ["not_mentioned 1", "send 1 text 2 1 5", "0", "muted 3", "0"])
    }

    @Test("drops the alerts of a thread that was read or left, and of a device when they are too old")
    func together() async throws {
        let found = try await run(
            """
            select from receipt_put(array[ben()], array[g()],
                array[(select m.seq from messages m where m.id = said(3))], array[null::bigint]);
            select claim('10:00:00');
            select claim('10:00:00');
            select settle('done', 4, 0, '10:00:01');
            select claim('11:00:00');
            select count(*) from push_jobs;
            """)
        #expect(found.suffix(5) == ["read 3", "send 1 text 4 1 2", "0", "expired 1", "0"])
    }

    @Test("waits while the device polls, and deletes jobs with their token, unless a new one was registered")
    func devices() async throws {
        let found = try await run(
            """
            insert into device_polls (session_id, user_id, node, from_pos) values (device(1), ben(), 'a', 0);
            select claim('10:00:00');
            select due_at from push_jobs order by pos limit 1;
            delete from device_polls;
            update push_jobs set due_at = '2030-01-01T10:00Z' where pos = (select min(pos) from push_jobs);
            select claim('10:00:00');
            select settle('forget', 1, 0, '10:00:01', '2029-12-31T23:59Z');
            select claim('10:00:01');
            select settle('forget', 1, 0, '10:00:02');
            select (select count(*) from push_jobs), (select count(*) from push_targets);
            """)
        #expect(
            found.suffix(7) == ["polling 0", "infinity", "send 1 text 1 1 5", "0", "send 1 text 1 2 5", "1", "0|0"])
    }

    @Test("reports, in an alert with a count, the seq up to which nothing is shown")
    func counts() async throws {
        let found = try await run(
            """
            delete from push_jobs where pos > (select min(pos) from push_jobs);
            update push_jobs set seq = 0;
            select claim('10:00:00');
            select from receipt_put(array[ben()], array[g()],
                array[(select m.seq from messages m where m.id = said(3))], array[null::bigint]);
            select claim('10:01:00');
            select from receipt_put(array[ben()], array[g()],
                array[(select m.seq from messages m where m.id = said(5))], array[null::bigint]);
            select claim('10:02:00');
            """)
        #expect(found.filter { $0.hasPrefix("send") } == ["send 1 1 5 0", "send 1 2 2 3", "send 1 3 0 5"])
    }

    @Test("by two nodes at once assigns each alert to one of them")
    func race() async throws {
        let database = try await MigratedDatabase.create()
        try await Psql.run(Self.people, conninfo: database)
        async let first = Psql.run(
            "begin; select claim('10:00:00'); \(Psql.sleep) commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        #expect(try await Psql.run("select claim('10:00:00') is null", conninfo: database) == "t")
        try await Psql.wake(in: database)
        #expect(try await first.contains("send 1 text 1 1 5"))
        #expect(try await Psql.run("select claim('10:00:00') is null", conninfo: database) == "t")
    }
}
