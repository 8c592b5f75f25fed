// The badge of alerts over a random history: the inbox's count at that moment.
import Store
import TestSupport
import Testing

@Suite("The badge of an alert", .timeLimit(.minutes(1)))
struct BadgeOfAnAlert {
    /// Four people, each with a device, in a direct thread, three groups and a room.
    private static let people = """
        create function who(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0000-00000000000' || n)::uuid $$;
        create function place(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0001-00000000000' || n)::uuid $$;
        insert into users (id, username, username_key, name, created_at)
        select who(n), 'u' || n, 'u' || n, 'User ' || n, now() from generate_series(1, 4) n;
        select from thread_create(place(1), 'direct', null, null, who(1), array[who(2)], false);
        select from generate_series(2, 4) n cross join lateral
            thread_create(place(n), 'group', 'g', null, who(n), array_remove(array[who(1), who(2), who(3), who(4)], who(n)), false);
        insert into push_targets (session_id, user_id, platform, token, token_digest, environment, registered_at, decided_pos)
        select who(n), who(n), 'apns', 'a' || n, ('a' || n)::bytea, 'production', now(), 0 from generate_series(1, 4) n;

        -- Something that one of them does; what may not be done is not.
        create function act(p_user uuid, p_thread uuid, p_kind int, p_part float) returns void language plpgsql as $$
        declare
            v_head bigint := thread_head(p_thread);
            v_seq bigint := greatest(1, ceil(v_head * (1 - p_part * p_part)));
            v_message uuid := (select m.id from messages m where m.thread_id = p_thread and m.seq = v_seq);
        begin
            case
                when p_kind < 9 then perform message_append(array[gen_random_uuid()], array[p_thread], array[p_user],
                    array['message'], array['{"text":"x"}'::json], array[null::uuid], array['{}']);
                when p_kind < 13 then perform receipt_put(array[p_user], array[p_thread], array[v_seq], array[null::bigint]);
                when p_kind = 13 then perform unread_put(p_user, p_thread, v_seq);
                when p_kind = 14 then perform message_delete(p_user, p_thread, v_message);
                when p_kind = 15 then perform message_hide(p_user, p_thread, v_message);
                when p_kind = 16 then perform settings_update(p_user, p_thread,
                    json_build_object('hidden_before_seq', v_seq));
                when p_kind = 17 then perform member_delete(p_user, p_thread, p_user);
                -- Somebody who left can be invited again, and not added.
                else perform member_put((select m.user_id from members m where m.thread_id = p_thread
                    and m.role = 'owner' and m.status = 'joined' limit 1), p_thread, p_user, null, 'invited', 100, 100);
                    perform member_put(p_user, p_thread, p_user, null, 'joined', 100, 100);
            end case;
        exception when others then
            if sqlstate not like 'PY%' then raise; end if;
        end $$;
        """

    @Test("is the inbox's unread_total after each of a thousand operations")
    func history() async throws {
        let database = try await MigratedDatabase.create()
        try await Psql.run(Self.people, conninfo: database)
        let found = try await Psql.run(
            """
            select setseed(0.1);
            create table found (step int, who uuid, badge bigint, total bigint);
            do $$ begin
                for step in 1..1000 loop
                    perform act(who(1 + floor(random() * 4)::int), place(1 + floor(random() * 4)::int),
                        floor(random() * 20)::int, random());
                    insert into push_jobs (session_id, pos, id, platform, thread_id, seq, at, due_at)
                    select t.session_id, step, gen_random_uuid(), 'apns', place(2), 0, now(), now() from push_targets t;
                    insert into found select step, c.session_id, c.badge, i.unread_total
                    from push_claim('apns', 100, 60, 3600) c cross join lateral inbox(c.session_id, 1, false, null, null) i;
                    delete from push_jobs;
                    -- So that the rows that are gone don't slow down the rest.
                    commit;
                end loop;
            end $$;
            select count(*), count(*) filter (where badge <> total), count(distinct badge) > 20, max(badge) > 20 from found;
            select count(*) filter (where status = 'left') > 0, count(*) filter (where hides) > 0,
                count(*) filter (where back_to_seq is not null) > 0 from members;
            select * from found where badge <> total order by step limit 3;
            """, conninfo: database)
        #expect(found.split(separator: "\n").map(String.init).suffix(2) == ["4000|0|t|t", "t|t|t"])
    }
}
