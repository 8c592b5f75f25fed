-- Claiming due alerts. Runs on every node: a claim is a lease, after which another node may claim the job. The lock of
-- a device's jobs is its row in push_targets.

-- Locks devices that have a due job, those that wait longest first, at most `p_limit`.
-- Returns: their sessions.
-- Locks: the devices' rows in push_targets; rows locked by others are skipped
create or replace function push_devices_due(p_platform text, p_limit int, p_due timestamptz) returns uuid[]
language plpgsql volatile as $$
begin
    return array(
        -- Some more than asked for: others may have locked the first ones.
        select t.session_id
        from (select j.session_id from push_jobs j where j.platform = p_platform and j.due_at <= p_due and j.due_at < 'infinity'
            order by j.due_at limit 4 * p_limit) d
        cross join lateral (select x.session_id from push_targets x where x.session_id = d.session_id
            limit 1 for no key update skip locked) t
        limit p_limit);
end $$;

-- Claims due jobs, one a device and at most `p_limit` devices, and decides for each whether to send it, from one
-- snapshot. An alert is worth sending for `p_life_s`.
-- Returns: a row each, in no particular order:
--   outcome    `send`: nobody else claims it for `p_lease_s` seconds. Otherwise the reason for not sending it. Then the
--              job is deleted, with the device's other jobs to which the same applies; `number` is how many. Except
--              `polling`, which waits until the device stops polling.
--   attempt    the number of this attempt to send it, from 1
--   age_ms     since the event
--   body       the message's text, without one the name of its first attachment
--   seq        of the message; 0 for a silent alert, which removes what is shown up to `read_upto`
--   badge      the account's unread_total
-- Locks: the devices' rows in push_targets; rows locked by others are skipped
-- Costs: an index probe when nothing is due
create or replace function push_claim(
    p_platform text, p_limit int, p_lease_s int, p_life_s int, p_now timestamptz default clock_timestamp()
) returns table (
    outcome text, number int, session_id uuid, pos bigint, id uuid, attempt int, age_ms bigint, expires_s bigint,
    token text, environment text, topic text, p256dh bytea, auth bytea, registered_ms bigint, badge bigint,
    thread_id uuid, seq bigint, read_upto bigint, message_id uuid, title text, sender_name text,
    type text, body text, privacy text)
language plpgsql volatile
set enable_hashjoin = on set enable_memoize = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    v_sessions uuid[];
begin
    v_sessions := push_devices_due(p_platform, p_limit, p_now);
    if v_sessions = '{}' then
        return;
    end if;
    -- In a separate statement, which sees what previous holders of the locks committed.
    return query
    with taken as materialized (
        select f.*, t.user_id, t.token, t.environment, t.topic, t.p256dh, t.auth, t.registered_at
        from unnest(v_sessions) s (id)
        cross join lateral (select j.*, j.ctid as place from push_jobs j where j.session_id = s.id order by j.pos limit 1) f
        cross join lateral (select g.* from push_targets g where g.session_id = s.id limit 1) t
        where f.due_at <= p_now or f.due_at = 'infinity'
    ), judged as materialized (
        select k.*, r.own_seq, m.member, x.id as message_id, x.sender_id, x.type, x.payload,
            case
                when k.at + make_interval(secs => p_life_s) <= p_now then 'expired'
                when (select d.node from device_polls d where d.session_id = k.session_id) is not null then 'polling'
                when k.seq = 0 then 'send'
                when m.status is distinct from 'joined' then 'left'
                when x.seq is null or x.deleted_at is not null or x.payload is null or x.expires_at <= p_now then 'deleted'
                when k.seq <= r.own_seq then 'read'
                when k.seq < m.hidden_before_seq or (m.hides and message_is_hidden(k.thread_id, k.user_id, k.seq)) then 'hidden'
                when m.muted_until > p_now or m.notify = 'none' then 'muted'
                when m.notify = 'mentions' and k.user_id = any (x.mentions) is not true then 'not_mentioned'
                when m.blocks then 'blocked'
                else 'send'
            end as outcome
        from taken k
        left join lateral (select y as member, y.* from members y where y.thread_id = k.thread_id
            and y.user_id between k.user_id and k.user_id order by y.thread_id, y.user_id limit 1) m on true
        left join lateral (select a.* from member_marks(m.member) a where m.status = 'joined' and k.seq >= 0) r on true
        left join lateral (select y.* from messages y
            where y.thread_id = k.thread_id and y.seq between k.seq and k.seq order by y.seq limit 1) x on k.seq > 0
    ), totals as materialized (
        select u.user_id, u.total
        from unread_totals(array(select distinct g.user_id from judged g where g.outcome = 'send')) u
    ), sent as (
        update push_jobs j set attempt = j.attempt + 1, due_at = p_now + make_interval(secs => p_lease_s)
        where j.ctid = any (array(select g.place from judged g where g.outcome = 'send'))
    ), deferred as (
        update push_jobs j set due_at = 'infinity'
        where j.ctid = any (array(select g.place from judged g where g.outcome = 'polling'))
    ), dropped as (
        delete from push_jobs j
        where j.ctid = any (array(
            select x.place from judged g
            cross join lateral (select y.*, y.ctid as place from push_jobs y where y.session_id = g.session_id offset 0) x
            where g.outcome not in ('send', 'polling')
                and (x.pos = g.pos
                    or case g.outcome
                        when 'expired' then x.at + make_interval(secs => p_life_s) <= p_now
                        when 'read' then x.thread_id = g.thread_id and x.seq between 1 and g.own_seq
                        when 'left' then x.thread_id = g.thread_id and x.seq > 0
                        when 'muted' then x.thread_id = g.thread_id and x.seq > 0
                        else false end)))
        returning j.session_id
    )
    select g.outcome,
        case g.outcome when 'send' then 1 when 'polling' then 0
            else (select count(*) from dropped d where d.session_id = g.session_id) end::int as number,
        g.session_id, g.pos, g.id, g.attempt + 1 as attempt, (extract(epoch from p_now - g.at) * 1000)::bigint as age_ms,
        floor(extract(epoch from g.at) + p_life_s)::bigint as expires_s, g.token, g.environment, g.topic, g.p256dh, g.auth,
        floor(extract(epoch from g.registered_at) * 1000)::bigint as registered_ms, coalesce(t.total, 0) as badge,
        g.thread_id, g.seq,
        case when g.seq = 0 and g.outcome = 'send' then push_read_upto(g.member, g.thread_id, g.own_seq) end as read_upto,
        g.message_id, (select h.title from threads h where h.id = g.thread_id) as title,
        (select s.name from users s where s.id = g.sender_id) as sender_name, g.type,
        case when g.type in ('message', 'system') and g.outcome = 'send'
            then coalesce(nullif(g.payload ->> 'text', ''), g.payload #>> '{attachments,0,name}') end as body,
        (select a.preferences ->> 'push' from users a where a.id = g.user_id) as privacy
    from judged g
    left join totals t on t.user_id = g.user_id;
    perform push_job_next(v_sessions, p_now);
end $$;

-- Returns: the seq up to which a device shows nothing of a thread any more: the thread's head if nothing there is
-- unread, or the user has left.
create or replace function push_read_upto(m members, p_thread uuid, p_own bigint) returns bigint
language plpgsql stable as $$
declare
    v_head bigint := thread_head(p_thread);
begin
    if m.status is distinct from 'joined' or unread_count(m, p_own, v_head) = 0 then
        return v_head;
    end if;
    return greatest(p_own, m.hidden_before_seq - 1);
end $$;

-- Returns: how long the first due job has been due, in milliseconds; null when none is.
create or replace function push_queue_ms(p_platform text, p_now timestamptz default clock_timestamp()) returns bigint
language plpgsql stable as $$
begin
    return (select (extract(epoch from p_now - j.due_at) * 1000)::bigint from push_jobs j
        where j.platform = p_platform and j.due_at <= p_now and j.due_at < 'infinity' order by j.due_at limit 1);
end $$;
