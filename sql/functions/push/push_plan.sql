-- Planning alerts: deciding from the log which device gets which alert. Any node plans, one node at a time, behind the
-- log's head; sending and publishing never wait for it. Each event is decided once for each device: in the order of
-- the log for devices that do not poll, and for a polling device when it has stopped, for the events that it then
-- lacks (device_poll.sql). docs/push.md plays an example.

-- Plans the next part of the log: at most `p_limit` events, or some members of a large room. Events older than
-- `p_life_s` get no alert. Jobs are due after `p_delay_ms`: by then a device whose first poll is just arriving is
-- known.
-- Returns: `pos`, the position up to which all is decided, null while another session plans
--          `made`, the number of jobs
--          `more`, whether there is more to plan
-- Locks: push_state (returns if it is locked), planning alerts (push_plan_lock), the devices' targets by session
-- Costs: a look at the log's head while no device is registered; otherwise the events, and the members of their
-- threads once.
create or replace function push_plan(
    p_limit int, p_life_s int default 86400, p_delay_ms int default 500, p_now timestamptz default null,
    out pos bigint, out made int, out more boolean)
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_oldest timestamptz := v_now - make_interval(secs => p_life_s);
    v_due timestamptz := v_now + p_delay_ms * interval '1 ms';
    v_state push_state;
    v_part record;
    v_head bigint;
begin
    made := 0;
    more := false;
    select * into v_state from push_state s for no key update skip locked;
    if not found then
        return;
    end if;
    lock table push_plan_lock in share update exclusive mode;
    v_state := push_relocate(v_state);
    -- Before the look at the devices, because each statement has a snapshot of its own: what is sent after a device was
    -- registered is not skipped.
    v_head := log_head();
    if (select t.session_id from push_targets t limit 1) is null then
        pos := v_head;
        perform push_skip(v_state, v_head);
        return;
    end if;
    pos := v_state.pos;
    if exists (select from device_polls d where d.node = '') then
        made := push_plan_gone(v_state, 100, v_oldest, v_now);
        more := true;
        return;
    end if;

    select * into v_part from push_next_part(v_state, p_limit, v_oldest);
    if v_part.upto is null then
        return;
    end if;
    more := v_part.room is not null or v_part.upto < log_head();
    if v_part.room is null then
        made := push_plan_part(v_state.pos, v_part.upto, v_part.threads, v_part.users, true, v_oldest, v_due);
        pos := v_part.upto;
        update push_state s set pos = v_part.upto, upto_pos = null, thread_id = null, user_id = null;
    else
        made := push_plan_part(v_state.pos, v_part.upto, array[v_part.room], v_part.users, false, v_oldest, v_due);
        update push_state s set upto_pos = v_part.upto, thread_id = v_part.room, user_id = v_part.last_user;
    end if;
end $$;

-- Returns the state from which planning continues. If the log has lost its tail, this is an earlier position, and the
-- jobs made from the lost events are deleted.
create or replace function push_relocate(s push_state) returns push_state
language plpgsql volatile as $$
declare
    v_place record;
    v_end bigint;
begin
    select * into v_place from log_place(s.epoch, s.pos);
    if v_place.state = 'lost' then
        v_end := least(v_place.epoch_end - 1, v_place.head, s.pos);
        delete from push_jobs j where j.pos > v_end;
        update push_targets t set decided_pos = v_end where t.decided_pos > v_end;
        update device_polls d set from_pos = v_end where d.from_pos > v_end;
        s.pos := v_end;
        s.upto_pos := null;
        s.thread_id := null;
        s.user_id := null;
    end if;
    if v_place.state = 'lost' or s.epoch <> v_place.epoch then
        s.epoch := v_place.epoch;
        update push_state o set epoch = s.epoch, pos = s.pos, upto_pos = s.upto_pos, thread_id = s.thread_id,
            user_id = s.user_id;
    end if;
    return s;
end $$;

-- Skips the log up to `p_upto`, because no device is registered. Stores the position every 1,000 events only.
create or replace function push_skip(s push_state, p_upto bigint) returns void
language plpgsql volatile as $$
begin
    delete from device_polls d where d.node = '';
    if p_upto - s.pos > 1000 or s.upto_pos is not null then
        update push_state o set pos = p_upto, upto_pos = null, thread_id = null, user_id = null;
    end if;
end $$;

-- Returns: the part of the log to plan next.
--   upto        the part's last event; null when there is none
--   room        a large thread of which some members are planned; null: all threads but large ones are planned
--   users       the members to plan for; null for all
--   last_user   the last member of the room in this part; null at the room's end
--   threads     the threads in which somebody has a device
-- A part ends before its threads have more than 20,000 members together, not counting large threads (more than 1,000
-- members).
create or replace function push_next_part(
    s push_state, p_limit int, p_oldest timestamptz,
    out upto bigint, out room uuid, out users uuid[], out last_user uuid, out threads uuid[])
language plpgsql stable as $$
declare
    v_few uuid[];
    v_large uuid[];
    v_large_count int;
    v_members uuid[];
begin
    upto := coalesce(s.upto_pos,
        (select max(x.pos) from (select e.pos from events e where e.pos > s.pos order by e.pos limit p_limit) x));
    -- With up to 200 devices, look up whether their users are in a thread, rather than read the thread's members.
    v_few := array(select t.user_id from push_targets t limit 201);
    if cardinality(v_few) > 200 or s.upto_pos is not null then
        v_few := null;
    end if;
    with told as (
        select e.thread_id, min(e.pos) as pos, count(*) filter (where e.type <> 'receipt.updated') as count
        -- `offset 0`: events without a user have an index by thread and position. By some statistics it looks as good as
        -- the primary key, and would be read as a whole.
        from (select * from events x where x.pos > s.pos and x.pos <= upto offset 0) e
        where e.user_id is null and e.at > p_oldest and e.type in ('message.created', 'message.deleted', 'receipt.updated')
        group by e.thread_id
    ), sized as materialized (
        select k.*, t.member_count > 1000 and v_few is null as is_large,
            case when t.member_count <= 1000 or v_few is not null then least(t.member_count, cardinality(v_few)) else 0 end
                as member_count
        from told k cross join lateral (select x.member_count from threads x where x.id = k.thread_id limit 1) t
    ), summed as materialized (
        select z.*, sum(z.member_count) over (order by z.pos) as total, row_number() over (order by z.pos) as place from sized z
    ), cut as materialized (
        select min(u.pos) - 1 as last from summed u where u.total > 20000 and u.place > 1 and s.upto_pos is null
    )
    select least(upto, (select c.last from cut c)),
        array_agg(u.thread_id) filter (where not u.is_large and case when v_few is null
            then (select p.session_id from (select m.user_id from members m
                    where m.thread_id = u.thread_id and m.status = 'joined' offset 0) m
                cross join lateral (select t.session_id from push_targets t where t.user_id = m.user_id limit 1) p
                limit 1) is not null
            else (select f.id from unnest(v_few) f (id) where push_is_member(u.thread_id, f.id) limit 1) is not null end),
        array_agg(u.thread_id order by u.thread_id) filter (where u.is_large and u.count > 0),
        coalesce(sum(u.count) filter (where u.is_large), 0)
    into upto, threads, v_large, v_large_count
    from summed u
    where u.pos <= coalesce((select c.last from cut c), upto);
    upto := coalesce(upto, s.upto_pos);

    room := (select l.id from unnest(v_large) l (id)
        where s.thread_id is null or l.id > s.thread_id or (l.id = s.thread_id and s.user_id is not null)
        order by l.id limit 1);
    if room is null then
        users := v_few;
        return;
    end if;
    v_members := array(select m.user_id from members m
        where m.thread_id = room and (room is distinct from s.thread_id or m.user_id > s.user_id)
        order by m.user_id limit greatest(100, 2000 / v_large_count));
    if cardinality(v_members) = greatest(100, 2000 / v_large_count) then
        last_user := v_members[cardinality(v_members)];
    end if;
    users := array(select m.id from unnest(v_members) m (id)
        where (select t.user_id from push_targets t where t.user_id = m.id limit 1) is not null);
end $$;

-- Returns: whether the user has joined the thread. Looks up by both: `between`, so that an index of one alone never
-- seems as good.
create or replace function push_is_member(p_thread uuid, p_user uuid) returns boolean
language plpgsql stable as $$
begin
    return (select m.status from members m where m.thread_id = p_thread and m.user_id between p_user and p_user
        order by m.thread_id, m.user_id limit 1) = 'joined';
end $$;
