// parley.send, parley.ensure_direct and parley.add_member in the customer's transaction, and the pump after its commit.
import Domain
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("Sending from SQL", .timeLimit(.minutes(1)))
struct SendingFromSQL {
    @Test("appears after the commit, in the order of the calls, once; a rolled back one never does")
    func order() async throws {
        let found = try await OutboxGround.run(
            """
            begin;
            select from parley.send(u(1), u(100), '{"text":"a"}');
            select from parley.add_member(u(100), u(3));
            select from parley.send(u(3), u(100), '{"text":"b"}');
            select from parley.send(u(2), u(100), '{"text":"c"}', u(201));
            commit;
            begin;
            select from parley.send(u(1), u(100), '{"text":"never"}');
            rollback;
            select pump();
            select said();
            select string_agg(type, ' ' order by pos) from events where thread_id = u(100) and pos > 2;
            select id = u(201) from messages where payload ->> 'text' = 'c';
            select count(*) from outbox;
            """)
        #expect(
            found == [
                "0", "a b c",
                // Ann and Bob get a; Cid gets the thread, everybody the member and the system message, then b and c.
                "message.created thread.created member.updated message.created message.created message.created", "t",
                "0",
            ])
    }

    @Test(
        "refuses at once what cannot be right, with a code",
        arguments: [
            ("parley.send(u(9), u(100), '{\"text\":\"x\"}')", "PY404 user_not_found"),
            ("parley.send(u(1), u(99), '{\"text\":\"x\"}')", "PY404 thread_not_found"),
            ("parley.send(u(4), u(100), '{\"text\":\"x\"}')", "PY403 not_joined"),
            ("parley.send(u(5), u(100), '{\"text\":\"x\"}')", "PY403 account_suspended"),
            ("parley.send(u(6), u(100), '{\"text\":\"x\"}')", "PY404 user_not_found"),
            ("parley.send(null, u(100), '{\"text\":\"x\"}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), null)", "PY422 invalid"),
            ("parley.send(u(1), u(100), '[]')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{\"text\":1}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{\"text\":null}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{\"text\":\"\"}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), jsonb_build_object('text', repeat('ä', 8192)))", "done"),
            ("parley.send(u(1), u(100), jsonb_build_object('text', repeat('ä', 8193)))", "PY422 invalid"),
            ("parley.send(u(1), u(100), jsonb_build_object('text', 'x', 'k', repeat('x', 65517)))", "done"),
            ("parley.send(u(1), u(100), jsonb_build_object('text', 'x', 'k', repeat('x', 65518)))", "PY422 invalid"),
            (
                "parley.send(u(1), u(100), ('{\"text\":\"x\",\"k\":' || repeat('[', 30) || repeat(']', 30) || '}')::jsonb)",
                "done"
            ),
            (
                "parley.send(u(1), u(100), ('{\"text\":\"x\",\"k\":' || repeat('[', 31) || repeat(']', 31) || '}')::jsonb)",
                "PY422 invalid"
            ),
            ("parley.send(u(1), u(100), '{\"text\":\"x\",\"k\":1e70}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{\"attachments\":[]}')", "PY422 invalid"),
            ("parley.send(u(1), u(100), '{\"attachments\":[{\"id\":\"x\"}]}')", "PY422 invalid"),
            (
                "parley.send(u(1), u(100), jsonb_build_object('attachments', jsonb_build_array(jsonb_build_object('id', u(7)))))",
                "PY422 invalid"
            ),
            ("parley.ensure_direct(u(1), u(1))", "PY422 invalid"),
            ("parley.ensure_direct(u(1), u(9))", "PY404 user_not_found"),
            ("parley.ensure_direct(u(1), u(4))", "PY403 not_reachable"),
            ("parley.ensure_direct(u(4), u(1))", "done"),
            ("parley.add_member(u(99), u(1))", "PY404 thread_not_found"),
            ("parley.add_member(u(100), u(9))", "PY404 user_not_found"),
            ("parley.add_member(u(100), u(3))", "PY403 member_left"),
            ("parley.add_member(u(100), u(2))", "done"),
        ])
    func refusals(_ call: String, _ expected: String) async throws {
        let found = try await OutboxGround.run(
            """
            update users set suspended_at = now() where id = u(5);
            update users set erased_at = now() where id = u(6);
            insert into blocks (user_id, blocked_id, created_at) values (u(4), u(1), now());
            insert into members (thread_id, user_id, role, status, left_by_choice) values (u(100), u(3), 'member', 'left', true);
            select outcome($sql$ select \(call) $sql$);
            select count(*) from outbox where kind <> 'ensure_direct';
            """)
        let isRow = expected == "done" && call.contains("send")
        #expect(found == [expected, isRow ? "1" : "0"])
    }

    @Test("accepts the same id with the same body again, before and after the pump, and refuses another body")
    func again() async throws {
        let found = try await OutboxGround.run(
            """
            create function again(p_payload jsonb, p_sender int default 1) returns text language sql as $$
                select outcome(format('select parley.send(u(%s), u(100), %L, u(201))', p_sender, p_payload)) $$;
            select again('{"text":"a","k":[1, {"x":"y: z"}]}'), again('{"k":[1,{"x":"y: z"}],"text":"a"}'), again('{"text":"b"}');
            select count(*) from outbox;
            select pump();
            select again('{"text":"a","k":[1, {"x":"y: z"}]}'), again('{"text":"b"}'), again('{"text":"a","k":[1, {"x":"y: z"}]}', 2);
            -- A client wrote it in another order.
            update messages set payload = '{"text":"a","k":[1,{"x":"y: z"}]}' where id = u(201);
            select again('{"text":"a","k":[1, {"x":"y: z"}]}');
            update messages set payload = '{"text":"a","n":1e-20000}' where id = u(201);
            select again('{"text":"a"}');
            update messages set payload = null, deleted_at = now() where id = u(201);
            select again('{"text":"a"}');
            select count(*) from outbox;
            """)
        let taken = "PY409 id_taken"
        #expect(found == ["done|done|\(taken)", "1", "0", "done|\(taken)|\(taken)", "done", taken, "done", "0"])
    }

    @Test("stores the payload as the API does")
    func compact() async throws {
        let found = try await OutboxGround.run(
            #"""
            select from parley.send(u(1), u(100), '{"text": "a: \"b\", {c}", "k": [1, 2.50, true, null, {"x, y": "z\\"}]}');
            select pump();
            select payload from messages where thread_id = u(100) and type = 'message';
            """#)
        #expect(found == ["0", #"{"k":[1,2.50,true,null,{"x, y":"z\\"}],"text":"a: \"b\", {c}"}"#])
    }

    @Test("a direct thread has one id, whichever transaction asks first, and is usable at once")
    func direct() async throws {
        let found = try await OutboxGround.run(
            """
            begin;
            select parley.send(u(2), parley.ensure_direct(u(1), u(2)), '{"text":"hi"}') is not null;
            commit;
            select parley.ensure_direct(u(2), u(1)) = parley.ensure_direct(u(1), u(2));
            select outcome('select parley.send(u(3), parley.ensure_direct(u(1), u(2)), ''{"text":"x"}'')');
            select pump();
            select kind, member_count, direct_low = u(1), substr(id::text, 15, 1), substr(id::text, 17, 2)
            from threads where id = parley.ensure_direct(u(1), u(2));
            select count(*) from outbox;
            -- The API makes a thread while the row of the other transaction waits: its id becomes another name.
            select parley.send(u(3), parley.ensure_direct(u(3), u(4)), '{"text":"one"}') is not null;
            select created from thread_create(u(102), 'direct', null, null, u(4), array[u(3)], false);
            select pump();
            select parley.send(u(4), parley.outbox_direct_id(u(3), u(4)), '{"text":"two"}') is not null;
            select parley.ensure_direct(u(4), u(3)) = u(102);
            select pump();
            select string_agg(payload ->> 'text', ' ' order by seq) from messages where thread_id = u(102);
            """)
        #expect(
            found == [
                "t", "t", "PY403 not_joined", "0", "direct|2|t|8|00", "0", "t", "t", "0", "t", "t", "0", "one two",
            ])
    }

    @Test("waits for no other transaction, and no other waits for it")
    func delaysNobody() async throws {
        let database = try await MigratedDatabase.create()
        try await Psql.run(OutboxGround.sql, conninfo: database)
        let open = Task {
            try await Psql.run(
                """
                begin;
                select from parley.send(u(1), u(100), '{"text":"late"}', u(201));
                select from parley.ensure_direct(u(1), u(4));
                \(Psql.sleep)
                commit;
                """, conninfo: database)
        }
        #expect(try await Psql.isAsleep(in: database))
        let found = try await Psql.run(
            """
            set lock_timeout = '1 s';
            set statement_timeout = '5 s';
            select parley.send(u(2), u(100), '{"text":"early"}') is not null;
            -- The same id, which the open transaction has not committed.
            select parley.send(u(1), u(100), '{"text":"late"}', u(201)) = u(201);
            select parley.ensure_direct(u(4), u(1)) is not null;
            select outcome from message_append(array[gen_random_uuid()], array[u(100)], array[u(1)], array['message'],
                array['{"text":"api"}'::json], array[null::uuid], array['{}']);
            select pump();
            select said();
            select count(*) from pg_locks l where l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
                and l.locktype in ('relation', 'advisory')
                and l.database = (select oid from pg_database where datname = current_database());
            """, conninfo: database)
        #expect(found.split(separator: "\n") == ["t", "t", "t", "created", "0", "api early late", "0"])
        try await Psql.wake(in: database)
        _ = try await open.value
        // The other copy of the message, and the other call for the thread, change nothing.
        #expect(
            try await Psql.run("select pump(); select said(); select count(*) from threads;", conninfo: database)
                == "0\napi early late\n3")
    }

    @Test("one node pumps at a time, and a locked row delays the others of no transaction")
    func oneAtATime() async throws {
        let database = try await MigratedDatabase.create()
        try await Psql.run(
            OutboxGround.sql + "select from parley.send(u(1), u(100), '{\"text\":\"a\"}');", conninfo: database)
        let other = Task {
            try await Psql.run(
                "begin; select lock_row('outbox');" + Psql.sleep + "commit;", conninfo: database)
        }
        #expect(try await Psql.isAsleep(in: database))
        #expect(try await Psql.run("select * from outbox_step(10, 5, 5, 5)", conninfo: database) == "0|0")
        try await Psql.wake(in: database)
        _ = try await other.value
        #expect(try await Psql.run("select * from outbox_step(10, 5, 5, 5)", conninfo: database) == "1|0")
    }

    @Test("of a thousand waiting rows the pump reads only those that it handles")
    func cost() async throws {
        let found = try await OutboxGround.run(
            """
            select count(parley.send(u(1), u(100), '{"text":"x"}')) from generate_series(1, 1000);
            select from pg_stat_force_next_flush();
            \(Psql.plannerSettings)
            begin;
            select handled from outbox_step(10, 5, 5, 100);
            select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read) < 100 from pg_stat_xact_user_tables where relname = 'outbox';
            rollback;
            """)
        #expect(found == ["1000", "10", "t"])
    }

    @Test("the service's own sessions do not see the schema of their user's name")
    func searchPath() async throws {
        let database = try await MigratedDatabase.create()
        // The user of the tests is `parley`, as operations.md proposes.
        try await Psql.run(
            """
            create table parley.users (id int);
            create table parley.messages (id int);
            """, conninfo: database)
        let client = PostgresClient(test: database, logger: .init(label: "test"))
        let path = try await client.query(
            Statement("path", "select current_setting('search_path'), current_schema()::text"))
        #expect(try path.first?.text(0) == "public" && path.first?.text(1) == "public")
        _ = try await Store(client).extendLog(days: 14)
        #expect(try await Store(client).pumpOutbox(limit: 10, limits: Limits()) == OutboxProgress())
        await client.shutdown()
        let sender = "00000000-0000-0000-0000-000000000001"
        let failure = try await Psql.run(
            """
            create function outcome() returns text language plpgsql as $$
            begin
                perform parley.send('\(sender)', '\(sender)', '{"text":"x"}');
                return 'done';
            exception when others then return sqlstate; end $$;
            select outcome();
            """, conninfo: database)
        #expect(failure == "PY404")
    }
}
