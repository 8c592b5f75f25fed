-- The end of an import: events for those who have new threads. Nothing else of it is in the log.

-- Counts the new threads of their members, and adds thread.created for each member, each with that member's own view of
-- the thread, and once for integrations. The views are made before the log is locked.
-- Fails: 40001 (an account was erased meanwhile).
-- Locks: the pairs of direct threads between existing accounts, the members' counts, then the log
-- Costs: 40 µs a member while the log is locked; the bodies of the events are made before
create or replace function import_publish(p_now timestamptz) returns void
language plpgsql volatile as $$
declare
    v_head bigint;
    v_count bigint;
begin
    perform import_count_threads();
    perform import_write_events(p_now);
    select count(*) into v_count from import_events;
    if v_count = 0 then
        return;
    end if;
    perform import_mark_blocks();
    if v_count > 10000 then
        -- The log has at least 100,000 places ahead, but not for more than one such import.
        perform log_extend(1, 100000 + v_count);
    end if;
    v_head := log_begin();
    if exists (select from import_memberships m join users u on u.id = m.user_id
        where m.status in ('joined', 'invited') and u.erased_at is not null) then
        raise exception using errcode = '40001', message = 'an account was erased meanwhile';
    end if;
    insert into events (pos, at, type, thread_id, user_id, begins, is_change, body)
    select v_head + e.place, p_now, 'thread.created', e.thread_id, e.user_id, e.begins, e.is_change, e.body
    from import_events e order by e.place;
    insert into membership_spans (user_id, thread_id, from_pos)
    select e.user_id, e.thread_id, v_head + e.place from import_events e where e.begins is not null;
    perform log_announce(v_head + v_count);
end $$;

-- Writes the events of all new threads to a temporary table.
create or replace function import_write_events(p_now timestamptz) returns void
language plpgsql volatile as $$
begin
    create temporary table import_events on commit drop as
    -- Once for each thread, and not for each member.
    with shown as materialized (
        select t.id, thread_created_members(t) as members from import_fates f join threads t on t.id = f.id where f.fate = 'new'
    )
    select row_number() over (order by x.thread_id, x.user_id) as place, x.*
    from (
        select t.id as thread_id, '00000000-0000-0000-0000-000000000000'::uuid as user_id, null::uuid[] as begins,
            true as is_change,
            event_json('thread.created', t.id, p_now, thread_created_data(t, null, s.members)) as body
        from shown s join threads t on t.id = s.id
        union all
        select t.id, m.user_id, case when m.status = 'joined' then array[m.user_id] end, null,
            event_json('thread.created', t.id, p_now, thread_created_data(t, m, s.members))
        from shown s
        join threads t on t.id = s.id
        join members m on m.thread_id = s.id
        where m.status in ('joined', 'invited')
    ) x;
end $$;

-- Counts the threads that members have more now.
create or replace function import_count_threads() returns void
language plpgsql volatile as $$
declare
    v_users uuid[] := array(select distinct m.user_id from import_memberships m where m.status in ('joined', 'invited')
        order by 1);
begin
    -- Counts that are missing are made by the members' rows, which are there already.
    perform from thread_counts c where c.user_id = any (v_users) order by c.user_id for no key update;
    update thread_counts c set count = c.count + n.count
    from (select m.user_id, count(*)::int as count from import_memberships m
        where m.status in ('joined', 'invited') group by m.user_id) n
    where c.user_id = n.user_id;
    insert into thread_counts (user_id, count)
    select u.id, thread_count_of(u.id) from unnest(v_users) u (id)
    where not exists (select from thread_counts c where c.user_id = u.id) order by u.id
    on conflict do nothing;
end $$;

-- Repeats the marks for blocks in direct threads of accounts that existed before: a block may have been set while the
-- threads were not visible yet.
-- Locks: the pairs
create or replace function import_mark_blocks() returns void
language plpgsql volatile as $$
declare
    v_threads uuid[] := array(select t.id from import_fates f join threads t on t.id = f.id
        where f.fate = 'new' and f.kind = 'direct'
            and not exists (select from import_new_users n where n.id in (t.direct_low, t.direct_high)));
begin
    perform lock_row('pairs', l.key)
    from (select distinct direct_key(t.direct_low, t.direct_high) as key from threads t where t.id = any (v_threads) order by 1) l;
    perform block_mark(t.id) from unnest(v_threads) t (id);
end $$;
