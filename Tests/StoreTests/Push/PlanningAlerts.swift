// Planning alerts, by the database alone.
import Store
import TestSupport
import Testing

@Suite("Planning alerts", .timeLimit(.minutes(1)))
struct PlanningAlerts {
    /// Ann (1), Ben (2) and Cleo (3) in a group. Ben and Cleo have each registered a device, of their own number.
    private static let people = """
        insert into users (id, username, username_key, name, created_at) select
            ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'u' || n, 'u' || n, '"sender":null', now()
            from generate_series(1, 4) n;
        create function person(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0000-00000000000' || n)::uuid $$;
        create function device(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0001-00000000000' || n)::uuid $$;
        create function g() returns uuid language sql as $$ select '00000000-0000-0000-0000-00000000000f'::uuid $$;
        insert into sessions (id, user_id, token_digest, created_at, last_used_at)
        select device(n), person(n), device(n)::text::bytea, now(), now() from generate_series(1, 4) n;
        select from thread_create(g(), 'group', 'g', null, person(1), array[person(2), person(3)], false);
        create function register(n int, token text default null) returns void language sql as $$
            select push_target_put(person(n), device(n), 'fcm', coalesce(token, 't' || n), null, null, null, null) $$;
        create function say(n int) returns bigint language sql as $$
            select a.seq from message_append(array[gen_random_uuid()], array[g()], array[person(n)], array['message'],
                array['{"text":"hi"}'::json], array[null::uuid], array['{}']) a $$;
        create function said(n bigint) returns uuid language sql as $$
            select m.id from messages m where m.thread_id = g() and m.seq = n $$;
        -- Device and seq of each alert there is to send, and gone: as if it had been sent.
        create function make(parts int default 100) returns text language plpgsql as $$
        declare
            found text;
        begin
            for n in 1..parts loop
                exit when not (select p.more from push_plan(1000, p_delay_ms => 0) p);
            end loop;
            select string_agg(right(j.session_id::text, 1) || ':' || j.seq, ' ' order by j.session_id, j.pos) into found
            from push_jobs j where not exists (select from device_polls d where d.session_id = j.session_id);
            delete from push_jobs j where not exists (select from device_polls d where d.session_id = j.session_id);
            return coalesce(found, '-');
        end $$;
        create function came(node text, n int, pos bigint) returns void language sql as $$
            select device_poll_put(node, array[device(n)], array[person(n)], array[pos], '{}', '{}') $$;
        create function gone(node text, n int, pos bigint) returns void language sql as $$
            select device_poll_put(node, '{}', '{}', '{}', array[device(n)], array[pos]) $$;
        do $$ begin perform register(2), register(3); end $$;

        """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.people + sql) }

    @Test(
        "alerts devices that do not poll about others' messages, once, and not about earlier ones than their registration"
    )
    func basics() async throws {
        let found = try await run(
            """
            select say(1), say(2);
            select register(1), register(1);
            select make();
            select say(2);
            select make(), make();
            select register(1, 'other'), say(3);
            select make();
            """)
        #expect(found == ["1|2", "|", "2:1 2:0 3:1 3:2", "3", "1:3 3:3|-", "|4", "1:4 2:4 3:0"])
    }

    @Test("alerts a device that is registered while the log is skipped, because there was no device")
    func firstDevice() async throws {
        // The second look at the head brings the registration and a message, as another session may at this moment. The
        // first one finds the place in the log.
        let found = try await run(
            """
            delete from push_targets;
            do $$ begin perform say(1) from generate_series(1, 1001); end $$;
            create table looks as select 0 as number;
            alter function log_head() rename to log_head_alone;
            create function log_head() returns bigint language plpgsql as $$
            begin
                update looks set number = number + 1;
                if (select number from looks) = 2 then
                    perform register(2);
                    perform say(1);
                end if;
                return log_head_alone();
            end $$;
            select make();
            """)
        #expect(found == ["2:1002"])
    }

    @Test("plans the example of docs/push.md as on the page")
    func example() async throws {
        let found = try await run(
            """
            do $$ begin perform say(1) from generate_series(1, 6); end $$;
            select count(*) from receipt_put(array[person(2), person(3)], array[g(), g()], '{6,6}', '{null,null}');
            select make() is null;
            select came('a', 2, log_head());
            select say(1);
            select outcome from receipt_put(array[person(3)], array[g()], '{7}', '{null}');
            select say(1);
            create function jobs(n int) returns text language sql as $$
                select string_agg(seq || case due_at when 'infinity' then ' waits' else ' is due' end, ', ' order by pos)
                from push_jobs where session_id = device(n) $$;
            select made from push_plan(1000);
            select jobs(3), jobs(2) is null;
            select gone('a', 2, (select pos from messages where seq = 7));
            select made from push_plan(1000);
            select jobs(2);
            select count(*) from device_polls;
            """)
        #expect(
            found == ["2", "f", "7", "ok", "8", "2", "0 is due, 8 waits|t", "1", "8 is due", "0"])
    }

    @Test("sends a count to the devices of users whose count changed, and to no others")
    func counts() async throws {
        let found = try await run(
            """
            select say(1), say(1), say(1);
            select make();
            -- Receiving changes nothing; reading does, and so does marking unread.
            select outcome from receipt_put(array[person(2)], array[g()], '{null}', '{3}');
            select make();
            select outcome from receipt_put(array[person(2)], array[g()], '{2}', '{null}');
            select make();
            select from unread_put(person(2), g(), 1);
            select make();
            -- Withdrawn: a member who had read it gets nothing.
            select outcome from receipt_put(array[person(2)], array[g()], '{3}', '{null}');
            select make();
            select message_delete(person(1), g(), said(3));
            select make();
            select message_hide(person(3), g(), said(1));
            select make();
            -- Answering implies reading all before; a second answer changes nothing.
            select say(3), say(3);
            select make();
            select settings_update(person(2), g(), '{"hidden_before_seq":2}') is null;
            select make();
            select member_delete(person(3), g(), person(3));
            select make();
            """)
        #expect(
            found.filter { $0 != "ok" && $0 != "f" && $0.first?.isLetter != true } == [
                "1|2|3", "2:1 2:2 2:3 3:1 3:2 3:3", "-", "2:0", "2:0", "2:0", "3:0", "3:0", "4|5", "2:4 2:5 3:0", "2:0",
                "3:0",
            ])
    }

    @Test("skips muted threads, messages that were read meanwhile, and system messages")
    func silent() async throws {
        let found = try await run(
            """
            select settings_update(person(2), g(), '{"muted_until":"2099-01-01T00:00:00Z"}') is null;
            select say(1);
            select outcome from receipt_put(array[person(3)], array[g()], '{1}', '{null}');
            select make();
            select member_put(person(1), g(), person(4), null, null, 100, 100) is null;
            select make();
            """)
        #expect(found == ["f", "1", "ok", "3:0", "f", "-"])
    }

    @Test("alerts members of what they chose: all messages, those that mention them, or none")
    func levels() async throws {
        let found = try await run(
            """
            create function mention(n int, m int) returns bigint language sql as $$
                select a.seq from message_append(array[gen_random_uuid()], array[g()], array[person(n)],
                    array['message'], array['{"text":"hi"}'::json], array[null::uuid], array[array[person(m)]::text]) a
            $$;
            select settings_update(person(2), g(), '{"notify":"mentions"}') is null;
            select settings_update(person(3), g(), '{"notify":"none"}') is null;
            select say(1);
            select make();
            select mention(1, 2), mention(1, 3);
            select make();
            -- The same for a device that has stopped polling.
            select came('a', 2, log_head());
            select say(1), mention(1, 2);
            select make();
            select gone('a', 2, log_head() - 2);
            select make();
            select settings_update(person(2), g(), '{"muted_until":"2099-01-01T00:00:00Z"}') is null;
            select mention(1, 2);
            select make();
            select settings_update(person(2), g(), '{"muted_until":null,"notify":"all"}') is null;
            select settings_update(person(3), g(), '{"notify":"all"}') is null;
            select say(1);
            select make();
            """)
        #expect(
            found.filter { !$0.isEmpty } == [
                "f", "f", "1", "-", "2|3", "2:2", "4|5", "-", "2:5", "f", "6", "-", "f", "f", "7", "2:7 3:7",
            ])
    }

    @Test("waits while a device polls, and alerts it about messages that it lacks when it has gone")
    func polling() async throws {
        let found = try await run(
            """
            select say(1) + 0 * (select max(pos) from events);
            select came('a', 2, log_head());
            select say(1), say(1);
            select make();
            -- It has received the second.
            select gone('a', 2, log_head() - 1);
            select make();
            select make();
            """)
        #expect(found == ["1", "2|3", "3:1 3:2 3:3", "2:3", "-"])
    }

    @Test(
        "holds an alert that was planned before the device came, and drops it when the device has received the message")
    func keepsBack() async throws {
        let found = try await run(
            """
            select say(1), say(1), say(1);
            select push_plan(1000) is null;
            delete from push_jobs where session_id = device(3);
            select came('a', 2, (select pos from messages where seq = 1));
            select string_agg(seq || ' ' || due_at, ',' order by pos) from push_jobs;
            select gone('a', 2, (select pos from messages where seq = 2));
            select make();
            """)
        #expect(found == ["1|2|3", "f", "2 infinity,3 infinity", "2:3"])
    }

    @Test("uses the node that a device came to last")
    func hops() async throws {
        let found = try await run(
            """
            select came('a', 2, log_head());
            select say(1);
            select came('b', 2, log_head() - 1);
            select gone('a', 2, log_head() - 1);
            select make();
            select gone('b', 2, log_head() - 1);
            select make();
            select count(*) from device_polls;
            """)
        #expect(found == ["1", "3:1", "2:1", "0"])
    }

    @Test("treats the devices of a dead node as gone, from the position of its last heartbeat")
    func deadNode() async throws {
        let found = try await run(
            """
            select came('a', 2, 0), came('a', 3, 0);
            select device_poll_heartbeat('a', log_head());
            select say(1), say(1);
            select device_poll_heartbeat('a', (select pos from messages where seq = 1));
            select came('b', 3, (select pos from messages where seq = 2)), device_poll_heartbeat('b', log_head());
            select make();
            update presence_nodes set seen_at = now() - interval '46 s' where node = 'a';
            select device_poll_sweep();
            select make();
            select string_agg(node, ',' order by node) from presence_nodes;
            -- It was only slow, and reports its devices again.
            select device_poll_heartbeat('a', 0);
            select device_poll_put('a', array[device(2), device(3)], array[person(2), person(3)], '{0,0}', '{}', '{}', true);
            select string_agg(node, ',' order by session_id) from device_polls;
            """)
        #expect(found == ["|", "t", "1|2", "f", "|t", "-", "1", "2:2", "b", "t", "a,b"])
    }

    @Test("plans one alert for a device that came and went while a room was being planned")
    func room() async throws {
        let found = try await run(
            """
            insert into users (id, name, created_at) select md5(n::text)::uuid, 'x', now() from generate_series(1, 3000) n;
            insert into members (thread_id, user_id, role, status)
            select g(), md5(n::text)::uuid, 'member', 'joined' from generate_series(1, 3000) n;
            insert into membership_spans (thread_id, user_id, from_pos) select g(), md5(n::text)::uuid, 0 from generate_series(1, 3000) n;
            update threads set member_count = 3003;
            insert into push_targets (session_id, user_id, platform, token, token_digest, registered_at, decided_pos)
            select md5('s' || n)::uuid, md5(n::text)::uuid, 'fcm', n, n::text::bytea, now(), 0 from generate_series(1, 3000) n;
            create table sent (session_id uuid, seq bigint);
            create function pass() returns boolean language plpgsql as $$
            declare
                more boolean := (select p.more from push_plan(1000, p_delay_ms => 0) p);
            begin
                with gone as (delete from push_jobs j where not exists (select from device_polls d
                    where d.session_id = j.session_id) returning j.session_id, j.seq)
                insert into sent select * from gone;
                return more;
            end $$;
            create function poll(first int, count int) returns void language sql as $$
                select device_poll_put('a', array_agg(md5('s' || n)::uuid), array_agg(md5(n::text)::uuid), array_agg(0::bigint),
                    '{}', '{}') from generate_series(first, first + count - 1) n $$;
            create function leave(first int, count int) returns void language sql as $$
                select device_poll_put('a', '{}', '{}', '{}', array_agg(md5('s' || n)::uuid), array_agg(0::bigint))
                from generate_series(first, first + count - 1) n $$;
            select poll(1, 300);
            select say(1), say(1), say(1), say(1), say(1);
            select pass();
            select count(*) between 1000 and 3000 from sent;
            -- Some come in the middle, with nothing; some of those go in the middle, and some who were there.
            select poll(301, 300), leave(1, 100), leave(301, 100);
            select pass(), pass(), pass();
            select poll(601, 100), leave(101, 100);
            do $$ begin for n in 1..100 loop exit when not pass(); end loop; end $$;
            select leave(1, 1000);
            do $$ begin for n in 1..100 loop exit when not pass(); end loop; end $$;
            select count(*), count(distinct (session_id, seq)) from sent where session_id not in (device(2), device(3));
            select count(*) from push_jobs;
            """)
        #expect(
            found == ["1|2|3|4|5", "t", "t", "||", "t|t|t", "|", "15000|15000", "0"])
    }

    @Test("continues from the start of the new epoch when the log has lost its tail")
    func lostTail() async throws {
        let found = try await run(
            """
            select say(1), say(1);
            select push_plan(1000) is null;
            select came('a', 3, 0);
            -- As a standby that lacks the second is promoted.
            delete from events where pos = (select pos from messages where seq = 2);
            delete from messages where seq = 2;
            select log_open_epoch(log_head() + 1) is null;
            select say(1);
            select string_agg(right(session_id::text, 1) || ':' || seq, ' ' order by session_id, pos) from push_jobs;
            select make();
            select gone('a', 3, 0);
            select make();
            """)
        #expect(found == ["1|2", "f", "f", "2", "2:1 2:2 3:1 3:2", "2:1 2:2", "3:1 3:2"])
    }
}
