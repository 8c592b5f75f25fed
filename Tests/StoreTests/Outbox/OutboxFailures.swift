// Rows of the outbox that are refused after their commit.
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("Failures of the outbox", .timeLimit(.minutes(1)))
struct OutboxFailures {
    @Test("have a code and do not delay the rows after them", arguments: [1, 100])
    func codes(limit: Int) async throws {
        let found = try await OutboxGround.run(
            """
            insert into outbox (kind, thread_id, user_id, message_id, payload) values
                ('send', u(100), u(1), u(201), '{"text":"a"}'),
                ('send', u(99), u(1), u(202), '{"text":"b"}'),
                ('send', u(100), u(3), u(203), '{"text":"c"}'),
                ('send', u(100), u(2), u(201), '{"text":"d"}'),
                ('send', u(100), u(5), u(204), '{"text":"e"}'),
                ('send', u(100), u(6), u(205), '{"text":"f"}'),
                ('send', u(100), u(2), u(206), '{"text":"g"}');
            insert into outbox (kind, thread_id, user_id, other_id) values
                ('add_member', u(99), u(1), null), ('add_member', u(100), u(9), null),
                ('ensure_direct', u(300), u(1), u(4)), ('ensure_direct', u(301), u(1), u(6));
            insert into outbox (kind, thread_id, user_id, message_id, payload) values
                ('send', u(100), u(1), u(207), '{"text":"h"}');
            update users set suspended_at = now() where id = u(5);
            update users set erased_at = now() where id = u(6);
            insert into blocks (user_id, blocked_id, created_at) values (u(4), u(1), now());
            select pump(\(limit));
            select said();
            select string_agg(kind || ' ' || code, ', ' order by id) from outbox_failures;
            select string_agg(coalesce(payload ->> 'text', '-'), '' order by id) from outbox_failures;
            select count(*) from outbox_failures where detail = '';
            """)
        #expect(
            found == [
                "9", "a g h",
                "send thread_not_found, send not_joined, send id_taken, send account_suspended, send user_not_found, "
                    + "add_member thread_not_found, add_member user_not_found, ensure_direct not_reachable, "
                    + "ensure_direct invalid",
                // The message of an erased sender is gone.
                "bcde-----", "0",
            ])
    }

    @Test("contain the row that makes a whole batch fail, alone")
    func poison() async throws {
        let database = try await MigratedDatabase.create()
        try await Psql.run(
            OutboxGround.sql + """
                select parley.send(u(1), u(100), jsonb_build_object('text', 'a' || n)) from generate_series(1, 5) n;
                update outbox set payload = '{"text":"x","attachments":[]}', attachments = array[u(7)] where seq = 3;
                alter function attachment_judge rename to attachment_judge_away;
                """, conninfo: database)
        let found = try await Psql.run(
            """
            create function try() returns text language plpgsql as $$
            begin
                return (select handled || ' ' || failed from outbox_step(10, 5, 5, 5));
            exception when others then return sqlstate; end $$;
            select try();
            select pump(1);
            select said();
            select code, detail from outbox_failures;
            """, conninfo: database)
        #expect(found == "42883\n1\na1 a2 a4 a5\ninternal_error|SQLSTATE 42883")
    }

    @Test("are listed, retried and deleted, and both is recorded")
    func retries() async throws {
        let found = try await OutboxGround.run(
            """
            select from parley.send(u(2), u(100), '{"text":"a"}', u(201));
            select from parley.send(u(2), u(100), '{"text":"b"}', u(202));
            update members set status = 'removed' where thread_id = u(100) and user_id = u(2);
            select pump();
            select item::json ->> 'kind', item::json ->> 'code', item::json -> 'payload' ->> 'text' from outbox_failure_list(9, null, null);
            select count(*) from outbox_failure_list(9, 0, (select min(id::text)::uuid from outbox_failures));
            update members set status = 'joined' where thread_id = u(100) and user_id = u(2);
            select from outbox_failure_retry('ann', 'r1', null, (select id from outbox_failures where message_id = u(201)));
            select pump(), said();
            select from outbox_failure_delete('ann', 'r2', null, (select id from outbox_failures));
            select count(*) from outbox_failures;
            select outcome('select outbox_failure_delete(''ann'', ''r3'', null, u(1))');
            select outcome('select outbox_failure_retry(''ann'', ''r3'', null, u(1))');
            select string_agg(action || ' ' || request_id, ', ' order by id) from audit;
            """)
        #expect(
            found == [
                "2", "send|not_joined|b", "send|not_joined|a", "0", "0|a", "0", "PY404 failure_not_found",
                "PY404 failure_not_found", "outbox.retry r1, outbox.delete r2",
            ])
    }

    @Test("of an erased account are gone")
    func erased() async throws {
        let found = try await OutboxGround.run(
            """
            select from parley.send(u(2), u(100), '{"text":"a"}');
            update members set status = 'removed' where thread_id = u(100) and user_id = u(2);
            select pump();
            select cardinality(account_erase(u(2), false));
            select count(*) from outbox_failures;
            """)
        #expect(found == ["1", "0", "0"])
    }
}
