-- How long the content of messages is kept: what is recorded when they are sent. retention_sweep.sql withdraws what is
-- due.

-- Returns: for a batch of new messages, after how many seconds each one's content is withdrawn, and whether it is
-- withdrawn once delivered; null for neither.
-- Locks: the caller holds the threads
create or replace function retention_of(p_threads uuid[], p_expires_s int[])
returns table (keep_s int[], until_delivered boolean[])
language plpgsql stable as $$
begin
    return query
    select array_agg(least(g.expires_s, nullif(t.keep_s, 0)) order by g.item),
        array_agg(case when t.keep_s = 0 then true end order by g.item)
    from unnest(p_threads, p_expires_s) with ordinality g (thread_id, expires_s, item)
    left join threads t on t.id = g.thread_id;
end $$;

-- Records when the content of new messages has to be withdrawn. Items that were not stored are left out.
create or replace function retention_note(p_threads uuid[], p_ids uuid[], p_senders uuid[]) returns void
language plpgsql volatile as $$
declare
    v_messages messages[] := array(
        select m from unnest(p_threads, p_ids, p_senders) g (thread_id, id, sender_id)
        cross join lateral message_find(g.thread_id, g.id) m
        where m.sender_id is not distinct from g.sender_id and (m.expires_at is not null or m.until_delivered));
begin
    insert into message_expiries (thread_id, seq, expires_at)
    select m.thread_id, m.seq, m.expires_at from unnest(v_messages) m where m.expires_at is not null;
    insert into undelivered (thread_id, pos, seq, at)
    select m.thread_id, m.pos, m.seq, m.created_at from unnest(v_messages) m where m.until_delivered;
    if found then
        -- In a separate statement: a further column in message_append would cost all messages.
        update events e set until_delivered = true from unnest(v_messages) m where e.pos = m.pos and m.until_delivered;
        -- So that the thread is checked again, whatever happens.
        insert into undelivered_checks (thread_id, due_at)
        select distinct m.thread_id, m.created_at + undelivered_interval() from unnest(v_messages) m
        where m.until_delivered and (select c.due_at from undelivered_checks c where c.thread_id = m.thread_id limit 1) is null;
    end if;
end $$;
