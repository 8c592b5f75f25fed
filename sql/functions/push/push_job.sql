-- Making the jobs of alerts, and the order of one device's jobs.

-- Makes the jobs for the events after `p_from` up to `p_upto` in `p_threads`: for the members in `p_users`, or for all
-- if that is null. With `p_with_own` also for what happened to single users: their own receipts, settings and
-- memberships.
-- Returns: how many jobs.
-- Locks: the devices' targets by session
create or replace function push_plan_part(
    p_from bigint, p_upto bigint, p_threads uuid[], p_users uuid[], p_with_own boolean, p_oldest timestamptz,
    p_due timestamptz
) returns int
language plpgsql volatile as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    return push_job_put(array(
        with happened as materialized (
            select e.pos, e.at, e.thread_id, e.mentions, f.*, f.seq > 1 and (select x.sender_id from messages x
                where x.thread_id = e.thread_id and x.seq between f.seq - 1 and f.seq - 1
                order by x.seq limit 1) is distinct from f.who as is_answer
            from (select * from events x where x.pos > p_from and x.pos <= p_upto offset 0) e
            cross join lateral (select * from push_effect(e.type, e.thread_id, e.user_id,
                (coalesce(e.begins, e.ends))[1], e.seq, e.actor_id, e.is_silent) offset 0) f
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
            select h.*, (m.member).user_id, push_job_seq(v_now, m.member, h.seq, h.who, h.about, h.is_answer, h.mentions) as told
            from happened h
            cross join lateral (select x as member from members x where x.thread_id = h.thread_id and x.status = 'joined'
                offset 0) m
            where p_users is null and (h.seq > 0 or h.who is null)
            union all
            select h.*, m.user_id, push_job_seq(v_now, m, h.seq, h.who, h.about, h.is_answer, h.mentions)
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
        -- A polling device's alerts are planned when it stops (push_plan_gone). If it began to poll while a large room was
        -- being planned, its jobs of this part are made, and held back.
        where c.told is not null and t.decided_pos < c.pos
            and coalesce((select d.from_pos from device_polls d where d.session_id = t.session_id), p_upto) >= p_upto
    ), p_due);
end $$;

-- Makes the jobs of devices that have stopped polling, `p_limit` devices a call: for the events that came while they
-- polled and that they did not receive.
-- Returns: how many jobs.
-- Locks: the devices' targets by session
create or replace function push_plan_gone(s push_state, p_limit int, p_oldest timestamptz, p_due timestamptz) returns int
language plpgsql volatile as $$
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
            select g.session_id, g.user_id, g.platform, x.pos, x.at, x.thread_id, x.mentions, f.*
            from gone g
            cross join lateral (
                select t.* from membership_spans b
                cross join lateral (
                    select e.* from events e
                    where uuid_hash(e.thread_id) = uuid_hash(b.thread_id) and e.thread_id = b.thread_id and e.user_id is null
                        and e.pos > g.pos and e.pos >= b.from_pos
                        and e.pos <= least(v_end, b.to_pos) and e.at > p_oldest
                    order by e.pos desc limit 1000) t
                where b.user_id = g.user_id and (b.to_pos is null or b.to_pos > g.pos)
                union all
                (select e.* from events e where e.user_id = g.user_id and e.pos > g.pos and e.pos <= v_end and e.at > p_oldest
                order by e.pos desc limit 1000)) x
            cross join lateral (select * from push_effect(x.type, x.thread_id, x.user_id,
                (coalesce(x.begins, x.ends))[1], x.seq, x.actor_id, x.is_silent) offset 0) f
            where f.seq > 0 or f.who is null or f.who = g.user_id
        )
        select row(h.session_id, h.pos, null, h.platform, h.thread_id, w.told, h.at, null, 0)::push_jobs
        from happened h
        cross join lateral (select x.* from members x where x.thread_id = h.thread_id
            and x.user_id between h.user_id and h.user_id order by x.thread_id, x.user_id limit 1) m
        cross join lateral push_job_seq(v_now, m::members, h.seq, h.who, h.about, h.seq > 1 and (select x.sender_id from messages x
            where x.thread_id = h.thread_id and x.seq between h.seq - 1 and h.seq - 1
            order by x.seq limit 1) is distinct from h.who, h.mentions) w (told)
        where w.told is not null);
    v_made := push_job_put(v_jobs, p_due, v_gone);
    -- Not for a device that began to poll while a large room was being planned: its part of that room is still to come.
    update push_targets t set decided_pos = v_end
    where t.session_id = any (v_gone) and t.decided_pos < v_end
        and v_end > (select d.from_pos from device_polls d where d.session_id = t.session_id);
    delete from device_polls d where d.session_id = any (v_gone);
    perform push_job_next(v_gone, p_due);
    return v_made;
end $$;

-- Stores jobs. A job that only carries a count is left out if one waits for the same device and thread already: the
-- count is looked up when the alert is sent. `p_sessions`: devices whose targets are locked too.
-- Returns: how many were stored.
-- Locks: the devices' targets by session
create or replace function push_job_put(p_jobs push_jobs[], p_due timestamptz, p_sessions uuid[] default '{}') returns int
language plpgsql volatile as $$
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

-- Makes the first job of each device due, unless it is due already or the device polls.
-- Locks: the caller holds the devices' targets. Call this in a statement after the one that changed the jobs.
create or replace function push_job_next(p_sessions uuid[], p_now timestamptz) returns void
language plpgsql volatile as $$
begin
    -- By ctid: with the statistics of a table that is mostly empty, a join may read all jobs.
    update push_jobs j set due_at = p_now
    where j.ctid = any (array(
        select f.ctid from unnest(p_sessions) s (id)
        cross join lateral (select x.ctid, x.due_at from push_jobs x where x.session_id = s.id order by x.pos limit 1) f
        where f.due_at = 'infinity' and (select d.node from device_polls d where d.session_id = s.id) is null));
end $$;
