-- One user among ten others in :threads groups of :messages messages each, and in one of :long that are all unread. A third
-- of the groups is read to the end, a third has up to 20 unread messages, a third any number. One message in 200 is deleted,
-- one in 50 mentions somebody, one in a thousand the user. For inbox.sh.
\set user '''00000000-0000-0000-0000-000000000001'''
\set long_thread '''20000000-0000-0000-0000-000000000000'''

create function measured_id(p_kind int, p_number bigint) returns uuid language sql immutable as $$
    select lpad(p_kind || lpad(to_hex(p_number), 31, '0'), 32, '0')::uuid
$$;
insert into users (id, username, username_key, name, created_at)
select measured_id(0, n), 'u' || n, 'u' || n, 'User ' || n, now() from generate_series(1, 11) n;
insert into threads (id, kind, title, created_at, member_count)
select measured_id(1, n), 'group', 'Group ' || n, now() - interval '1 year', 11 from generate_series(1, :threads) n
union all select :long_thread, 'group', 'Long', now() - interval '1 year', 11;
insert into members (thread_id, user_id, role, status, joined_at, read_seq, delivered_seq)
select t.id, u.id, 'member', 'joined', t.created_at,
    case when t.id = :long_thread then 0 else greatest(0, :messages - case ('x' || right(t.id::text, 2))::bit(8)::int % 3
        when 0 then 0 when 1 then floor(random() * 20)::int else floor(random() * :messages)::int end) end,
    case when t.id = :long_thread then 0 else :messages end
from threads t cross join users u order by t.id, u.id;
insert into membership_spans (user_id, thread_id, from_pos) select user_id, thread_id, 0 from members;

insert into messages (thread_id, seq, id, sender_id, type, payload, mentions, created_at, deleted_at, pos)
select t.id, n, measured_id(3, n), measured_id(0, 2 + n % 10), 'message',
    case when n % 200 <> 7 then '{"text":"Something of the usual length, which is about a hundred bytes as people write them."}'::json end,
    case when n % 200 = 7 then '{}' when n % 1000 = 3 then array[:user::uuid] when n % 50 = 3 then array[measured_id(0, 3)]
        else '{}' end,
    t.created_at + n * interval '1 minute' + ('x' || right(t.id::text, 4))::bit(16)::int * interval '1 second',
    case when n % 200 = 7 then now() end, n
from (select id, created_at from threads where id <> :long_thread order by id) t cross join generate_series(1, :messages) n;
insert into messages (thread_id, seq, id, sender_id, type, payload, mentions, created_at, deleted_at, pos)
select :long_thread, n, measured_id(3, n), measured_id(0, 2 + n % 10), 'message', case when n % 200 <> 7 then '{"text":"x"}'::json end,
    case when n % 1000 = 3 then array[:user::uuid] when n % 50 = 3 then array[measured_id(0, 3)] else '{}' end, now(),
    case when n % 200 = 7 then now() end, n
from generate_series(1, :long) n;
vacuum analyze;

-- Runs a statement p_times and reports its times in milliseconds; the first run, which fills caches, separately.
create function measure(p_what text, p_sql text, p_times int default 50) returns text language plpgsql as $$
declare
    v_times float[] := '{}';
    v_start timestamptz;
begin
    execute 'prepare measured as ' || p_sql;
    for v_try in 0 .. p_times loop
        v_start := clock_timestamp();
        execute 'execute measured';
        v_times := v_times || extract(epoch from clock_timestamp() - v_start)::float * 1000;
    end loop;
    execute 'deallocate measured';
    return (select format('%-55s first %s, then median %s, 95 %% below %s', p_what, round(v_times[1]::numeric, 2),
            round((percentile_cont(0.5) within group (order by x))::numeric, 2),
            round((percentile_cont(0.95) within group (order by x))::numeric, 2))
        from unnest(v_times[2:]) x);
end $$;

\pset tuples_only on
\pset format unaligned
select measure('inbox, first page', format('select * from inbox(%L, 30, false, null, null)', :user));
select measure('inbox, unread only', format('select * from inbox(%L, 30, true, null, null)', :user));
select measure('a thread with ' || :long || ' unread', format('select thread_get(%L, %L)', :user, :long_thread));
select measure('its unread count', format('select unread_count(m, r.own_seq, thread_head(m.thread_id)) from members m
    cross join member_marks(m) r where m.user_id = %L and m.thread_id = %L', :user, :long_thread));
select measure('its mention count', format('select mention_count(m, r.own_seq) from members m
    cross join member_marks(m) r where m.user_id = %L and m.thread_id = %L', :user, :long_thread));
select measure('delivered in all threads', format('select receipt_deliver(array[%L::uuid], array[null::uuid], array[9000000000000000000])', :user));
