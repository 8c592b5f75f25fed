-- Who is to be alerted of what: decided from the log, behind its head, by any node, one at a time. Sending does nothing for
-- it. Each event is decided once for each device: for those that don't poll as the log is gone through, for those that do
-- when they have gone, as far as they lack it by then (device_poll.sql).

-- Takes the next part of the log in hand: at most `p_limit` events, or so many members of a large room. Events older than
-- `p_life_s` are no news. Jobs are due after `p_delay_ms`: a device whose first poll is just arriving is known by then.
--   pos    up to where it is decided now; null while another session is at it
--   made   the jobs that were made
--   more   whether there is more to do
-- Costs, where no device is registered, a look at the head; else the events, and the members of their threads once.
-- locks: push_state (skipped when taken), making alerts, the devices' targets by session
create or replace function push_make(
    p_limit int, p_life_s int default 86400, p_delay_ms int default 500, p_now timestamptz default null,
    out pos bigint, out made int, out more boolean)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_oldest timestamptz := v_now - make_interval(secs => p_life_s);
    v_due timestamptz := v_now + p_delay_ms * interval '1 ms';
    v_state push_state;
    v_part record;
begin
    made := 0;
    more := false;
    select * into v_state from push_state s for no key update skip locked;
    if not found then
        return;
    end if;
    perform pg_advisory_xact_lock(7266006);
    v_state := push_place(v_state);
    if (select t.session_id from push_targets t limit 1) is null then
        pos := push_pass(v_state);
        return;
    end if;
    pos := v_state.pos;
    if exists (select from device_polls d where d.node = '') then
        made := push_resume(v_state, 100, v_oldest, v_now);
        more := true;
        return;
    end if;

    select * into v_part from push_part(v_state, p_limit, v_oldest);
    if v_part.upto is null then
        return;
    end if;
    more := v_part.room is not null or v_part.upto < log_head();
    if v_part.room is null then
        made := push_tell(v_state.pos, v_part.upto, v_part.threads, v_part.users, true, v_oldest, v_due);
        pos := v_part.upto;
        update push_state s set pos = v_part.upto, upto_pos = null, thread_id = null, user_id = null;
    else
        made := push_tell(v_state.pos, v_part.upto, array[v_part.room], v_part.users, false, v_oldest, v_due);
        update push_state s set upto_pos = v_part.upto, thread_id = v_part.room, user_id = v_part.last_user;
    end if;
end $$;

-- The state as it is to be gone on from: another one when the log has lost its tail, and then with what was made of it.
create or replace function push_place(s push_state) returns push_state
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

-- Nobody is to be alerted of anything: what there is to decide is passed over, and written down now and then.
create or replace function push_pass(s push_state) returns bigint
language plpgsql volatile as $$
declare
    v_head bigint := log_head();
begin
    delete from device_polls d where d.node = '';
    if v_head - s.pos > 1000 or s.upto_pos is not null then
        update push_state o set pos = v_head, upto_pos = null, thread_id = null, user_id = null;
    end if;
    return v_head;
end $$;

-- What is to be done next.
--   upto      the last event of the part; null when there is none
--   room      a large thread some of whose members are to be gone through; null when all of the rest is to be told
--   users     the members to be told; null for all
--   last_user   how far that is in the room; null at its end
--   threads   those where somebody has a device
-- A part ends before its threads have more than 20,000 members together, those of large ones not counted.
create or replace function push_part(
    s push_state, p_limit int, p_oldest timestamptz,
    out upto bigint, out room uuid, out users uuid[], out last_user uuid, out threads uuid[])
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_few uuid[];
    v_large uuid[];
    v_large_count int;
    v_members uuid[];
begin
    upto := coalesce(s.upto_pos,
        (select max(x.pos) from (select e.pos from events e where e.pos > s.pos order by e.pos limit p_limit) x));
    -- Few devices: whether they are in a thread is looked up, and not who is in it.
    v_few := array(select t.user_id from push_targets t limit 201);
    if cardinality(v_few) > 200 or s.upto_pos is not null then
        v_few := null;
    end if;
    with told as (
        select e.thread_id, min(e.pos) as pos, count(*) filter (where e.type <> 'receipt.updated') as count
        -- `offset 0`: of those without a user there is an index by thread, and then by position, which by whatever statistics
        -- may seem to do as well, and would be read as a whole.
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
            else (select f.id from unnest(v_few) f (id) where push_member(u.thread_id, f.id) limit 1) is not null end),
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

-- Whether somebody has joined the thread. Looked up by both: `between`, so that no index of one alone seems to do as well.
create or replace function push_member(p_thread uuid, p_user uuid) returns boolean
language plpgsql stable as $$
begin
    return (select m.status from members m where m.thread_id = p_thread and m.user_id between p_user and p_user
        order by m.thread_id, m.user_id limit 1) = 'joined';
end $$;

-- What an event means to push: nothing (no row), a message of `who` with its `seq`, or with seq 0 that the count of `who`,
-- or of all members if that is null, may have changed; by the withdrawal of the message `about`, if it says so.
-- `p_head` is the beginning of the event's JSON: what is looked for there stands before anything that users wrote. Where it
-- is called, `offset 0` keeps it from being computed once for each use.
create or replace function push_meaning(
    p_type text, p_at timestamptz, p_thread uuid, p_user uuid, p_person uuid, p_head text
) returns table (seq bigint, who uuid, about bigint)
language sql stable as $$
    select case p_type when 'message.created' then split_part(split_part(p_head, '"seq":', 2), ',', 1)::bigint else 0 end,
        case when p_type = 'message.created' then left(split_part(p_head, '"sender":{"id":"', 2), 36)::uuid
            when p_type = 'member.updated' then p_person
            when p_user is not null then p_user
            when p_type = 'receipt.updated' then left(split_part(p_head, '"user_id" : "', 2), 36)::uuid end,
        -- For oneself alone it is written otherwise, and not needed.
        case when p_type = 'message.deleted' and p_user is null
            then split_part(split_part(p_head, '"seq":', 2), ',', 1)::bigint end
    where p_thread is not null and case p_type
        -- Not what the service itself says.
        when 'message.created' then left(split_part(p_head, '"sender":', 2), 1) = '{'
        when 'message.deleted' then true
        -- Muting and the like change no count; clearing does.
        when 'settings.updated' then strpos(p_head, '"hidden_before_seq" : 0,') = 0
        when 'member.updated' then p_person is not null
        -- That somebody has got something changes no count.
        when 'receipt.updated' then p_user is not null or strpos(p_head, '"read_at" : "' || rfc3339(p_at)) > 0
        else false end
$$;

-- The seq that a member's device is to be told of: 0 for their count alone, null for nothing.
-- `p_is_answer`: the message before is somebody else's.
create or replace function push_seq(
    p_now timestamptz, m members, p_seq bigint, p_who uuid, p_about bigint, p_is_answer boolean) returns bigint
language sql immutable as $$
    select case
        when m.status <> 'joined' then case when p_who = m.user_id then 0 end
        when p_seq = 0 then case when p_about > m.read_seq or m.back_to_seq is not null or p_about is null then 0 end
        when p_who = m.user_id then case when p_is_answer and m.read_seq < p_seq - 1 then 0 end
        when m.read_seq < p_seq and (m.muted_until is null or m.muted_until <= p_now) then p_seq end
$$;

-- Makes the jobs for what happened after `p_from` up to `p_upto` in `p_threads`, for the members in `p_users` or, if that is
-- null, all; with `p_with_own` also for what happened to people by themselves. Gives how many.
-- locks: the devices' targets by session
create or replace function push_tell(
    p_from bigint, p_upto bigint, p_threads uuid[], p_users uuid[], p_with_own boolean, p_oldest timestamptz,
    p_due timestamptz
) returns int
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    return push_put(array(
        with happened as materialized (
            select e.pos, e.at, e.thread_id, f.*, f.seq > 1 and (select x.sender_id from messages x
                where x.thread_id = e.thread_id and x.seq between f.seq - 1 and f.seq - 1
                order by x.seq limit 1) is distinct from f.who as is_answer
            from (select * from events x where x.pos > p_from and x.pos <= p_upto offset 0) e
            cross join lateral (select left(e.body, 600) as head offset 0) b
            cross join lateral (select * from push_meaning(e.type, e.at, e.thread_id, e.user_id,
                (coalesce(e.begins, e.ends))[1], b.head) offset 0) f
            where e.at > p_oldest
                and ((e.user_id is null and e.thread_id = any (p_threads))
                    or (p_with_own and (e.user_id is not null or e.begins is not null or e.ends is not null)))
        ), parts as materialized (
            select t.id as thread_id, array(select y.member
                from (select (select x from members x where x.thread_id = t.id and x.user_id between u.id and u.id
                    order by x.thread_id, x.user_id limit 1) as member from unnest(p_users) u (id) offset 0) y
                where (y.member).status = 'joined') as members
            from unnest(p_threads) t (id) where p_users is not null
        ), concerned as (
            select h.*, (m.member).user_id, push_seq(v_now, m.member, h.seq, h.who, h.about, h.is_answer) as told
            from happened h
            cross join lateral (select x as member from members x where x.thread_id = h.thread_id and x.status = 'joined'
                offset 0) m
            where p_users is null and (h.seq > 0 or h.who is null)
            union all
            select h.*, m.user_id, push_seq(v_now, m, h.seq, h.who, h.about, h.is_answer)
            from happened h
            join parts p on p.thread_id = h.thread_id
            cross join unnest(p.members) m
            where p_users is not null and (h.seq > 0 or h.who is null)
            union all
            select h.*, h.who, 0 from happened h where h.seq = 0 and h.who is not null
        )
        select row(t.session_id, c.pos, null, t.platform, c.thread_id, c.told, c.at, null, 0)::push_jobs
        from concerned c
        cross join lateral (select x.* from push_targets x where x.user_id = c.user_id offset 0) t
        -- What comes to who polls is for its going. One that came while a large room was gone through has its alerts made,
        -- and kept back.
        where c.told is not null and t.decided_pos < c.pos
            and coalesce((select d.from_pos from device_polls d where d.session_id = t.session_id), p_upto) >= p_upto
    ), p_due);
end $$;

-- Makes the jobs of devices that have gone, some at a time: of what came while they polled, and they lack. Gives how many.
-- locks: the devices' targets by session
create or replace function push_resume(s push_state, p_limit int, p_oldest timestamptz, p_due timestamptz) returns int
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_end bigint := coalesce(s.upto_pos, s.pos);
    v_gone uuid[] := array(select d.session_id from device_polls d where d.node = '' limit p_limit);
    v_jobs push_jobs[];
    v_made int;
begin
    v_jobs := array(
        with gone as materialized (
            select d.session_id, d.user_id, t.platform, greatest(d.from_pos, t.decided_pos) as pos
            from unnest(v_gone) g (id)
            cross join lateral (select x.* from device_polls x where x.session_id = g.id limit 1) d
            cross join lateral (select x.* from push_targets x where x.session_id = g.id limit 1) t
            where greatest(d.from_pos, t.decided_pos) < v_end
        ), happened as (
            select g.session_id, g.user_id, g.platform, x.pos, x.at, x.thread_id, f.*
            from gone g
            cross join lateral (
                select t.* from membership_spans b
                cross join lateral (
                    select e.* from events e
                    where e.thread_id = b.thread_id and e.user_id is null and e.pos > g.pos and e.pos >= b.from_pos
                        and e.pos <= least(v_end, b.to_pos) and e.at > p_oldest
                    order by e.pos desc limit 1000) t
                where b.user_id = g.user_id and (b.to_pos is null or b.to_pos > g.pos)
                union all
                (select e.* from events e where e.user_id = g.user_id and e.pos > g.pos and e.pos <= v_end and e.at > p_oldest
                order by e.pos desc limit 1000)) x
            cross join lateral (select left(x.body, 600) as head offset 0) b
            cross join lateral (select * from push_meaning(x.type, x.at, x.thread_id, x.user_id,
                (coalesce(x.begins, x.ends))[1], b.head) offset 0) f
            where f.seq > 0 or f.who is null or f.who = g.user_id
        )
        select row(h.session_id, h.pos, null, h.platform, h.thread_id, w.told, h.at, null, 0)::push_jobs
        from happened h
        cross join lateral (select x.* from members x where x.thread_id = h.thread_id
            and x.user_id between h.user_id and h.user_id order by x.thread_id, x.user_id limit 1) m
        cross join lateral push_seq(v_now, m::members, h.seq, h.who, h.about, h.seq > 1 and (select x.sender_id from messages x
            where x.thread_id = h.thread_id and x.seq between h.seq - 1 and h.seq - 1
            order by x.seq limit 1) is distinct from h.who) w (told)
        where w.told is not null);
    v_made := push_put(v_jobs, p_due, v_gone);
    -- Not for one that came while a large room was gone through: that is still to come to it.
    update push_targets t set decided_pos = v_end
    where t.session_id = any (v_gone) and t.decided_pos < v_end
        and v_end > (select d.from_pos from device_polls d where d.session_id = t.session_id);
    delete from device_polls d where d.session_id = any (v_gone);
    perform push_job_next(v_gone, p_due);
    return v_made;
end $$;

-- Writes jobs down, and gives how many. One that tells of the count alone is left out where the same waits for the thread
-- already: what it says is looked up when it is sent.
-- `p_sessions`: devices whose targets are to be locked besides.
-- locks: the devices' targets by session
create or replace function push_put(p_jobs push_jobs[], p_due timestamptz, p_sessions uuid[] default '{}') returns int
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_count int;
begin
    perform from push_targets t
    where t.session_id = any (array(select j.session_id from unnest(p_jobs) j union select u.id from unnest(p_sessions) u (id)))
    order by t.session_id for no key update;
    insert into push_jobs as o (session_id, pos, id, platform, thread_id, seq, at, due_at)
    select j.session_id, j.pos, gen_random_uuid(), j.platform, j.thread_id, j.seq, j.at,
        case when row_number() over (partition by j.session_id order by j.pos) > 1
            or (select k.pos from push_jobs k where k.session_id = j.session_id order by k.pos limit 1) is not null
            or (select d.session_id from device_polls d where d.session_id = j.session_id) is not null
            then 'infinity' else p_due end
    from (
        select distinct on (n.session_id, n.pos) n.*,
            row_number() over (partition by n.session_id, n.thread_id, n.seq order by n.pos) as place
        from unnest(p_jobs) n order by n.session_id, n.pos, n.seq desc
    ) j
    where (select t.session_id from push_targets t where t.session_id = j.session_id) is not null
        and (j.seq > 0 or (j.place = 1 and not exists (select from push_jobs k
            where k.session_id = j.session_id and k.thread_id = j.thread_id and k.seq = 0 and k.attempt = 0)))
    on conflict do nothing;
    get diagnostics v_count = row_count;
    return v_count;
end $$;
