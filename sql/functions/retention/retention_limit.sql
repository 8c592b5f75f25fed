-- The longest retention of the whole service. New threads keep messages for no longer, so this is for threads and
-- messages from before the setting, and for content that waits for delivery.

-- Looks at the `p_limit` threads after `p_after`, by id, up to the first one that has messages older than `p_max_s`
-- which were not looked at before. Makes tombstones of them, of at most `p_message_limit` in one call. System messages
-- stay. `p_now` is for tests.
-- Returns:
--   next       where to continue, null at the end
--   looked     how many old messages it looked at; 0 when no thread had any
-- Locks: the thread, then the log
-- Costs: two index probes a thread
create or replace function retention_limit(
    p_after uuid, p_limit int, p_max_s int, p_message_limit int default 100, p_now timestamptz default null
) returns table (next uuid, looked int)
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_old timestamptz := v_now - make_interval(secs => p_max_s);
    v_threads uuid[] := array(select t.id from threads t
        where t.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') order by t.id limit p_limit);
    v_thread uuid;
    v_part messages[];
begin
    next := p_after;
    looked := 0;
    foreach v_thread in array v_threads loop
        if retention_old_at(v_thread) <= v_old then
            perform thread_lock(v_thread);
            v_part := array(
                select m::messages from (select x.* from messages x
                    where x.thread_id = v_thread and x.seq > retention_walked(v_thread)
                    order by x.seq limit p_message_limit) m
                where m.created_at <= v_old order by m.seq);
            looked := cardinality(v_part);
        end if;
        if looked > 0 then
            perform retention_clear(v_part, v_now);
            -- The next call begins with this thread again.
            return next;
            return;
        end if;
        next := v_thread;
    end loop;
    if cardinality(v_threads) < p_limit then
        next := null;
    end if;
    return next;
end $$;

-- Returns: up to which seq a thread was cleared.
create or replace function retention_walked(p_thread uuid) returns bigint
language plpgsql stable as $$
begin
    return coalesce((select w.seq from retention_walks w where w.thread_id = p_thread), 0);
end $$;

-- Returns: the time of the oldest message after that.
create or replace function retention_old_at(p_thread uuid) returns timestamptz
language plpgsql stable
set enable_sort = off
as $$
declare
    v_seq bigint := retention_walked(p_thread);
begin
    return (select x.created_at from messages x where x.thread_id = p_thread and x.seq > v_seq order by x.seq limit 1);
end $$;

-- Makes tombstones of those of a thread's messages that have content, and records the last of all of them.
-- Locks: the log; the caller holds the thread
create or replace function retention_clear(p_messages messages[], p_now timestamptz) returns void
language plpgsql volatile as $$
declare
    v_last messages := p_messages[cardinality(p_messages)];
    v_due messages[] := array(select x from unnest(p_messages) x
        where x.payload is not null and x.deleted_at is null and x.type <> 'system' order by x.seq);
begin
    insert into retention_walks as w (thread_id, seq) values (v_last.thread_id, v_last.seq)
    on conflict (thread_id) do update set seq = greatest(w.seq, excluded.seq);
    perform report_forget(array(select x.thread_id from unnest(p_messages) x), array(select x.seq from unnest(p_messages) x),
        true);
    if cardinality(v_due) > 0 then
        perform message_tombstone(v_due, p_now, null, 'expired');
    end if;
end $$;
