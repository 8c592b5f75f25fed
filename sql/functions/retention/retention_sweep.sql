-- Withdrawing what is due. Runs on every node. Each call locks its rows and skips rows locked by others, so nodes
-- share the work and finish what a dead node started. The work of a call is bounded.

-- Does a part of what is due: messages whose time is over, or content that every device has. With `p_delivered_first`
-- it tries the latter first.
-- Returns: how much was due; 0 when nothing is.
-- Costs: two index probes when nothing is due
create or replace function retention_sweep(p_limit int, p_silent_days int, p_delivered_first boolean) returns int
language plpgsql volatile as $$
declare
    v_count int := case when p_delivered_first then retention_settle(p_limit, p_silent_days) else retention_expire(p_limit) end;
begin
    if v_count > 0 then
        -- The other one would take locks out of order.
        return v_count;
    end if;
    return case when p_delivered_first then retention_expire(p_limit) else retention_settle(p_limit, p_silent_days) end;
end $$;

-- Makes tombstones of messages whose time is over, at most `p_limit`. `p_now` is for tests.
-- Returns: how many it looked at.
-- Locks: the rows of message_expiries (skips locked ones), the threads by id, then the log
-- Costs: an index probe when nothing is due
create or replace function retention_expire(p_limit int, p_now timestamptz default null) returns int
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_threads uuid[];
    v_seqs bigint[];
    v_messages messages[];
begin
    select array_agg(x.thread_id), array_agg(x.seq) into v_threads, v_seqs
    from (select e.thread_id, e.seq from message_expiries e where e.expires_at <= v_now
        order by e.expires_at limit p_limit for update skip locked) x;
    if v_threads is null then
        return 0;
    end if;
    perform from threads t where t.id = any (v_threads) order by t.id for no key update;
    v_messages := array(
        select m::messages from unnest(v_threads, v_seqs) g (thread_id, seq)
        cross join lateral (select x.* from messages x
            where x.thread_id = g.thread_id and x.seq between g.seq and g.seq order by x.seq limit 1) m
        where m.deleted_at is null order by m.thread_id, m.seq);
    delete from message_expiries e using unnest(v_threads, v_seqs) g (thread_id, seq)
    where e.thread_id = g.thread_id and e.seq = g.seq;
    perform report_forget(v_threads, v_seqs, true);
    if cardinality(v_messages) > 0 then
        perform message_tombstone(v_messages, v_now, null, 'expired');
    end if;
    return cardinality(v_threads);
end $$;

-- Returns: after how long a thread with waiting content is checked again when nothing happens.
create or replace function undelivered_interval() returns interval
language sql immutable parallel safe as $$
    select interval '10 minutes'
$$;

-- Has the thread, or all of the user's threads, checked soon: something has changed, so content there may no longer
-- have to wait.
-- Costs: without a thread, an index probe for each of the user's
create or replace function undelivered_recheck(p_thread uuid, p_user uuid default null) returns void
language plpgsql volatile as $$
begin
    insert into undelivered_checks (thread_id, due_at)
    select i.id, stamp()
    from (select p_thread where p_thread is not null
        union all select m.thread_id from members m where m.user_id = p_user and m.status = 'joined') i (id)
    where (select u.pos from undelivered u where u.thread_id = i.id order by u.pos limit 1) is not null
        or (select f.seq from undelivered_files f where f.thread_id = i.id order by f.seq limit 1) is not null;
end $$;

-- Returns: whether a device of the thread's members still needs what was written at `p_pos` as the message `p_seq` at
-- `p_at`. Devices that signed in later, members who were invited or joined later, and devices not used since
-- `p_silent` do not count. A member without any such device needs it until one device has received it. A bot without
-- any needs nothing: it may only ever send.
create or replace function undelivered_is_needed(p_thread uuid, p_pos bigint, p_seq bigint, p_at timestamptz, p_silent timestamptz)
returns boolean
language plpgsql stable as $$
begin
    return p_at > p_silent and exists (
        select from members m
        where m.thread_id = p_thread and m.status in ('joined', 'invited') and least(m.invited_at, m.joined_at) <= p_at
            and (greatest(m.delivered_seq, member_read_seq(m)) < p_seq and m.is_bot is null
                or exists (select from sessions s where s.user_id = m.user_id and s.created_at <= p_at
                    and s.last_used_at > p_silent
                    and coalesce((select d.pos from device_marks d where d.session_id = s.id and d.thread_id = p_thread), 0) < p_pos)));
end $$;

-- Returns: the seqs of a thread's waiting content that nobody needs any more, at most `p_limit`. A device that needs
-- something needs all that came after it, so these are all up to a certain one, found by binary search. An edit, whose
-- message is an earlier one, counts as late as the last message before it: a member without devices is known by
-- messages only.
create or replace function undelivered_free(p_thread uuid, p_limit int, p_silent timestamptz) returns bigint[]
language plpgsql stable as $$
declare
    v_waiting undelivered[] := array(
        select u from undelivered u where u.thread_id = p_thread order by u.pos limit p_limit);
    v_low int := 0;
    v_high int := cardinality(v_waiting);
    v_middle int;
begin
    while v_low < v_high loop
        -- The first one first: usually it is still needed, and the search ends here.
        v_middle := case v_low when 0 then 1 else (v_low + v_high + 1) / 2 end;
        if undelivered_is_needed(p_thread, v_waiting[v_middle].pos,
            (select max(w.seq) from unnest(v_waiting[:v_middle]) w), v_waiting[v_middle].at, p_silent) then
            v_high := v_middle - 1;
        else
            v_low := v_middle;
        end if;
    end loop;
    return array(select w.seq from unnest(v_waiting[:v_low]) w);
end $$;

-- Withdraws content that every device has, or that no device is waited for: in at most `p_limit` threads, those
-- checked longest ago, and in each at most `p_limit` messages. `p_silent_days` is how long a device that is not used
-- is waited for, and how long content waits at most. The messages stay, without their content. Clients get no event,
-- because they have the content. `p_now` is for tests.
-- Returns: how many threads it checked.
-- Locks: rows of undelivered_checks (skips locked ones), the threads by id, then the log
-- Costs: an index probe when nothing is due; for a thread whose members have it all, a few for each device
create or replace function retention_settle(p_limit int, p_silent_days int, p_now timestamptz default null) returns int
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_silent timestamptz := v_now - make_interval(days => p_silent_days);
    v_threads uuid[] := array(select c.thread_id from undelivered_checks c where c.due_at <= v_now
        order by c.due_at limit p_limit for update skip locked);
    v_thread uuid;
    -- What every device has, and of that what is not kept for its files.
    v_settled bigint[];
    v_free bigint[];
    v_messages messages[] := '{}';
    v_gone messages[];
    v_told bigint[];
    v_head bigint;
begin
    if v_threads = '{}' then
        return 0;
    end if;
    perform from threads t where t.id = any (v_threads) order by t.id for no key update;
    -- The checks below see all changes up to now. Rows locked by others are theirs to check.
    delete from undelivered_checks c where c.ctid = any (array(
        select x.ctid from undelivered_checks x where x.thread_id = any (v_threads) for update skip locked));
    foreach v_thread in array array(select distinct t.id from unnest(v_threads) t (id)) loop
        v_settled := undelivered_free(v_thread, p_limit, v_silent);
        v_free := attachment_hold(v_thread, v_settled, v_silent);
        -- Also of messages that were deleted meanwhile.
        perform report_forget(array_fill(v_thread, array[cardinality(v_free)]), v_free, true);
        v_messages := v_messages || array(
            select m::messages from unnest(v_free) f (seq)
            cross join lateral (select x.* from messages x
                where x.thread_id = v_thread and x.seq between f.seq and f.seq order by x.seq limit 1) m
            where m.payload is not null);
        delete from undelivered u where u.thread_id = v_thread and u.seq = any (v_settled);
        insert into undelivered_checks (thread_id, due_at)
        select v_thread, case cardinality(v_settled) when p_limit then v_now else v_now + undelivered_interval() end
        where exists (select from undelivered u where u.thread_id = v_thread)
            or exists (select from undelivered_files f where f.thread_id = v_thread);
    end loop;
    if cardinality(v_messages) > 0 then
        select array_agg(w.message), array_agg(w.told) into v_gone, v_told from message_withdraw(v_messages, null, 'expired') w;
        v_head := log_begin();
        -- For the nodes alone, which drop the content: no user has this id.
        insert into events (pos, at, type, thread_id, user_id, withdraws, body)
        select v_head + row_number() over (order by g.thread_id), v_now, 'message.withdrawn', g.thread_id,
            '00000000-0000-0000-0000-000000000000', max(g.told), event_json('message.withdrawn', g.thread_id, v_now, '{}')
        from (select (v_gone[i]).thread_id, v_told[i] as told from generate_subscripts(v_gone, 1) i) g
        group by g.thread_id;
        perform log_announce((select max(e.pos) from events e where e.pos > v_head));
    end if;
    return cardinality(v_threads);
end $$;
