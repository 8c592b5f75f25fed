-- Reading the log.

-- Returns: the events after `p_after`, in order, and the newest epoch of their snapshot. A node's tail reads this. With a
-- message (`message_id` is not null) `body` is its payload, and the node makes the event from the columns after it, the
-- same bytes as message_json and event_json would. Rendering in SQL takes ten times as long.
-- With `p_in_turn` it first waits for the present holders of the log's lock. A node that shares the log with other
-- busy nodes waits here before it takes a batch, and not with it: messages that come meanwhile join the batch. In
-- PL/pgSQL with one generic plan: PostgreSQL would plan each call again, because a plan that knows `p_after` leaves
-- out partitions, and planning is three quarters of the cost of reading one event. VOLATILE, so that it sees what the
-- lock's last holder committed.
-- Locks: with `p_in_turn` the log (shared), while it reads
create or replace function log_read(p_after bigint, p_limit int, p_in_turn bool default false) returns table (
    pos bigint, type text, thread_id uuid, user_id uuid, begins uuid[], ends uuid[], session_id uuid, withdraws bigint,
    body text, at timestamptz, epoch int, until_delivered boolean, message_id uuid, seq bigint, sender_id uuid,
    name text, image text, message_type text, reply_to uuid, mentions uuid[], expires_at timestamptz)
language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_sort = off
as $$
begin
    if p_in_turn then
        lock table log_lock in share mode;
    end if;
    return query
    select e.pos, e.type, e.thread_id, e.user_id, e.begins, e.ends, e.session_id, e.withdraws, e.body, e.at,
        (select max(l.epoch) from log_epochs l), e.until_delivered, e.message_id, e.seq, e.actor_id, e.name, e.image, e.message_type,
        e.reply_to, e.mentions, e.expires_at
    from events e where e.pos > p_after order by e.pos limit p_limit;
end $$;

-- Returns: about how many bytes clients get of an event.
create or replace function event_bytes(p_body text, p_message uuid) returns int
language sql immutable parallel safe as $$
    select octet_length(p_body) + case when p_message is null then 0 else 512 end
$$;
