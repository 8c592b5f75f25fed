// What integrations see of the log: each event once, with its actor, and nothing private.
import Domain
import Postgres
import Store
import TestSupport
import Testing

@Suite("Changes of the log", .timeLimit(.minutes(1)))
struct ChangesOfTheLog {
    /// 120 users; thread 1001 with users 1 and 2, and thread 1002 with users 1 to 110.
    private static let ground =
        Psql.users(120) + """
            create function n(p uuid) returns text language sql immutable as $$ select ltrim(right(p::text, 4), '0') $$;
            select from thread_create(p(1001), 'group', 'G', null, p(1), array[p(2)], false);
            select from thread_create(p(1002), 'group', 'H', null, p(1), array(select p(n) from generate_series(2,110) n), false);
            create function say(thread int, id int, by int) returns text language sql as $$
                select outcome from message_append(array[p(id)], array[p(thread)], array[p(by)], array['message'],
                    array['{"text":"hi"}']::json[], array[null]::uuid[], array['{}']) $$;
            -- Type, thread and actor of the events after a position.
            create function changes(p_after bigint) returns setof text language sql as $$
                select concat_ws(' ', c.type, n(c.thread_id), 'by', coalesce(n(c.actor_id), '-'))
                from changes_read(log_epoch(), p_after, null, 100, 1000000) c where c.pos is not null $$;
            """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.ground + sql) }

    @Test("are each event once, with the acting user")
    func once() async throws {
        let found = try await run(
            """
            select from say(1001, 2001, 1);
            select from receipt_put(array[p(2)], array[p(1001)], array[1]::bigint[], array[null]::bigint[]);
            select from message_edit(p(1), p(1001), p(2001), '{"text":"edited"}');
            select from reaction_put(p(2), p(1001), p(2001), '👍', 20);
            select from member_put(p(1), p(1001), p(3), null, 'joined', 100, 100);
            select from member_put(p(1), p(1001), p(4), null, 'invited', 100, 100);
            select from thread_update(p(1), p(1001), '{"keep_s":60}', null);
            select from message_delete(p(1), p(1001), p(2001));
            select from member_delete(p(3), p(1001), p(3));
            select changes(2);
            """)
        #expect(
            found == [
                "message.created 1001 by 1", "receipt.updated 1001 by 2", "message.updated 1001 by 1",
                "reaction.updated 1001 by 2", "member.updated 1001 by 1", "message.created 1001 by -",
                "member.updated 1001 by 1", "thread.updated 1001 by 1", "message.deleted 1001 by 1",
                "member.updated 1001 by 3", "message.created 1001 by -",
            ])
    }

    @Test("have one event for a change that many people get, or that only one person gets in a large thread")
    func ofLargeThreads() async throws {
        let found = try await run(
            """
            select from member_put(p(1), p(1002), p(2), 'admin', null, 1000, 1000);
            select from member_put(p(1), p(1002), p(111), null, 'joined', 1000, 1000);
            select from say(1002, 2001, 1);
            select from receipt_put(array[p(5)], array[p(1002)], array[2]::bigint[], array[null]::bigint[]);
            select from receipt_put(array[p(6)], array[p(1002)], array[null]::bigint[], array[2]::bigint[]);
            select changes(2);
            """)
        #expect(
            found == [
                "member.updated 1002 by 1", "member.updated 1002 by 1", "message.created 1002 by -",
                "message.created 1002 by 1", "receipt.updated 1002 by 5",
            ])
    }

    @Test("have a profile once for all threads, an erasure, and a sign-out with its user, and nothing private")
    func ofAccounts() async throws {
        let found = try await run(
            """
            select from account_update(p(2), '{"name":"Ben"}', '{ben}');
            select from account_update(p(2), '{"preferences":{"push":"none"}}', null);
            select from block_put(p(2), p(3), true);
            select from session_create(p(2), p(5001), 'token', null, 5);
            select from session_delete(p(2), p(5001));
            select from say(1001, 2001, 1);
            select from message_hide(p(2), p(1001), p(2001));
            select from account_erase(p(2), false);
            select changes(2);
            select count(*) from changes_read(1, 0, '{session.revoked}', 10, 1000) c
            where c.body::json #>> '{data,user_id}' = p(2)::text and c.body::json #>> '{data,session_id}' = p(5001)::text;
            select count(*) from changes_read(1, 0, null, 100, 1000000) c where c.body like '%preferences%';
            do $$ begin while erasure_sweep(100) > 0 loop end loop; end $$;
            select count(*), count(*) filter (where c.body like '%Ben%' or c.body like '%"u2"%'),
                count(*) filter (where c.body::json ->> 'data' = '{}')
            from changes_read(1, 0, null, 1000, 1000000) c where c.pos is not null;
            """)
        #expect(
            found.dropLast() == [
                "user.updated by 2", "session.revoked by 2", "message.created 1001 by 1", "user.updated by -", "1", "0",
            ])
        let counts = found.last?.split(separator: "|").dropFirst()
        #expect(counts == ["0", "0"], "\(found)")
    }

    @Test("come in bounded parts, from any position, with any types")
    func inParts() async throws {
        let found = try await run(
            """
            select from generate_series(1, 300) i cross join lateral say(1001, 2000 + i, 1 + i % 2);
            select from generate_series(1, 3) i cross join lateral reaction_put(p(2), p(1001), p(2000 + i), '👍', 20);
            create function walk(p_types text[], p_limit int, p_bytes int, p_scan int, out events int, out steps int,
                out in_order boolean, out largest int)
            language plpgsql as $$
            declare v_pos bigint := 0; v_last bigint; c record; v_count int;
            begin
                events := 0; steps := 0; in_order := true; largest := 0;
                loop
                    v_count := 0;
                    for c in select * from changes_read(1, v_pos, p_types, p_limit, p_bytes, p_scan) loop
                        if c.pos is null then
                            v_pos := c.last;
                        else
                            in_order := in_order and c.pos > coalesce(v_last, 0);
                            v_last := c.pos;
                            v_count := v_count + 1;
                        end if;
                    end loop;
                    events := events + v_count; steps := steps + 1; largest := greatest(largest, v_count);
                    exit when v_pos = log_head() or steps > 1000;
                end loop;
            end $$;
            select * from walk(null, 100, 1000000, 5000);
            select * from walk(null, 1, 1000000, 5000);
            select * from walk('{reaction.updated}', 100, 1000000, 50);
            select events, in_order, largest from walk(null, 1000, 900, 5000);
            select * from walk('{nothing}', 1, 1, 5000);
            """)
        #expect(
            found == ["305|4|t|100", "305|305|t|1", "3|7|t|3", "305|t|2", "0|1|t|0"], "\(found)")
    }

    @Test("begin again where nothing kept is missed, when the cursor has expired")
    func expiry() async throws {
        let found = try await run(
            """
            select from generate_series(1, 30) i cross join lateral say(1001, 2000 + i, 1 + i % 2);
            select state, last from changes_read(log_epoch(), 32, null, 1, 1);
            select state, last from changes_read(log_epoch(), 33, null, 1, 1);
            select state, last from changes_read(log_epoch() + 1, 3, null, 1, 1);
            insert into log_epochs (epoch, first_pos, system_identifier, timeline, opened_at, started_at, floor_pos)
            select epoch + 7, 21, system_identifier, timeline, opened_at, started_at, floor_pos from log_epochs;
            select state, last, epoch from changes_read(1, 25, null, 1, 1);
            select state, epoch from changes_read(1, 20, null, 1, 1) where pos is null;
            select string_agg(event_epoch || '_' || pos, ' ') from changes_read(1, 18, null, 4, 10000);
            insert into log_trims (end_pos, partition, begun_at, dropped_at) values (11, 'x', now(), now());
            select state, last from changes_read(1, 9, null, 1, 1);
            select state from changes_read(1, 10, null, 1, 1) where pos is null;
            select state, last from changes_read(99, 5, null, 1, 1);
            """)
        #expect(
            found == [
                "ok|32", "expired|32", "expired|0", "expired|20|8", "ok|8", "1_19 1_20 8_21 8_22", "expired|10", "ok",
                "expired|10",
            ])
    }

    @Test("begin at an instant, though times are a little out of order")
    func since() async throws {
        let found = try await run(
            """
            select from generate_series(1, 100) i cross join lateral say(1001, 2000 + i, 1);
            update events set at = '2026-01-01'::timestamptz + pos * interval '1 s';
            update events set at = '2026-01-01 00:00:52.5' where pos = 51;
            select pos from change_since('2026-01-01 00:00:00');
            select pos from change_since('2026-01-01 00:00:50');
            select pos from change_since('2026-01-01 00:00:52.5');
            select pos from change_since('2026-01-01 00:01:42');
            select pos from change_since('2027-01-01');
            """)
        #expect(found == ["0", "49", "50", "101", "102"])
    }

    @Test("reach Swift with the data as clients get it")
    func decoding() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(
            Self.ground + "select from say(1001, 2001, 1); select from account_erase(p(9), false);", conninfo: database)
        let client = PostgresClient(test: database)
        let store = Store(client)
        let start = Cursor(epoch: 1, position: .start)
        guard case .part(let changes, let next, let head) = try await store.changes(after: start, limit: 10) else {
            Issue.record("the cursor has expired")
            return
        }
        #expect(changes.map(\.type) == ["thread.created", "thread.created", "message.created", "user.updated"])
        #expect(next == head && changes.allSatisfy { EventType(rawValue: $0.type) != nil })
        let sent = try #require(changes.dropFirst(2).first)
        #expect(sent.id.description == "evt_0_1_3" && sent.actor?.description.hasSuffix("1") == true)
        let data = try JSONReader.read(sent.data.utf8)
        #expect(data["payload"]?["text"]?.string == "hi" && data["seq"]?.integer == 1)
        #expect(changes.last?.actor == nil && changes.last?.thread == nil)
        guard
            case .part(let some, _, _) = try await store.changes(
                after: start, types: [.messageCreated, .userUpdated], limit: 1)
        else { return }
        #expect(some.map(\.id) == [sent.id])
        guard case .expired(let oldest) = try await store.changes(after: Cursor(epoch: 7, position: .start), limit: 1)
        else {
            Issue.record("an unknown epoch was accepted")
            return
        }
        #expect(oldest == start)
        #expect(try await store.changes(since: Timestamp(microsSince1970: 0)) == start)
        await client.shutdown()
    }
}
