-- How long the content of messages stays: what is noted of it when they are sent, and its withdrawal. When that is due is
-- decided in retention_sweep.sql.

-- For a batch of new messages: after how many seconds each one's content is to go, and whether once it is delivered; null
-- for neither. Call it with the threads locked.
create or replace function retention_of(p_threads uuid[], p_expires_s int[])
returns table (keep_s int[], until_delivered boolean[])
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
    return query
    select array_agg(least(g.expires_s, nullif(t.keep_s, 0)) order by g.item),
        array_agg(case when t.keep_s = 0 then true end order by g.item)
    from unnest(p_threads, p_expires_s) with ordinality g (thread_id, expires_s, item)
    left join threads t on t.id = g.thread_id;
end $$;

-- Notes when the content of messages has to go that were written just now, from the position `p_first` on.
create or replace function retention_note(p_threads uuid[], p_ids uuid[], p_first bigint) returns void
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_messages messages[] := array(
        select m from unnest(p_threads, p_ids) g (thread_id, id) cross join lateral message_find(g.thread_id, g.id) m
        where m.pos >= p_first and (m.expires_at is not null or m.until_delivered));
begin
    insert into message_expiries (thread_id, seq, expires_at)
    select m.thread_id, m.seq, m.expires_at from unnest(v_messages) m where m.expires_at is not null;
    insert into undelivered (thread_id, pos, seq, at)
    select m.thread_id, m.pos, m.seq, m.created_at from unnest(v_messages) m where m.until_delivered;
    if found then
        -- Afterwards: a column more in the one statement is paid for by all messages.
        update events e set until_delivered = true from unnest(v_messages) m where e.pos = m.pos and m.until_delivered;
        -- Whatever else happens, somebody looks again.
        insert into undelivered_checks (thread_id, due_at)
        select distinct m.thread_id, m.created_at + undelivered_interval() from unnest(v_messages) m
        where m.until_delivered and (select c.due_at from undelivered_checks c where c.thread_id = m.thread_id limit 1) is null;
    end if;
end $$;

-- Takes the content of messages out of all that holds it: their rows, what they said before edits, the search index, the
-- log's events. With `p_deleted_at` they become tombstones, and reactions and mentions go, too. Gives each as it is then,
-- and the last position at which the log had its content: nodes forget the thread's events up to there.
-- Call it with the threads locked, and before the log's lock is taken.
-- locks: nothing that anybody waits for
create or replace function message_withdraw(p_messages messages[], p_deleted_at timestamptz)
returns table (message messages, told bigint)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_gone messages[];
begin
    perform search_forget(x) from unnest(p_messages) x;
    if p_deleted_at is not null then
        delete from message_reactions r using unnest(p_messages) x where r.thread_id = x.thread_id and r.seq = x.seq;
        delete from message_reaction_counts c using unnest(p_messages) x where c.thread_id = x.thread_id and c.seq = x.seq;
    end if;
    with gone as (
        update messages m set payload = null, deleted_at = coalesce(p_deleted_at, m.deleted_at),
            mentions = case when p_deleted_at is null then m.mentions else '{}' end,
            reacted = case when p_deleted_at is null then m.reacted end
        from unnest(p_messages) x
        where m.thread_id = x.thread_id and m.seq = x.seq and m.id = x.id
        returning m as message
    )
    select array_agg(g.message) into v_gone from gone g;
    update events e set body = event_json(e.type, t.thread_id, e.at, message_view(t.message))
    from (
        select g.thread_id, g as message, g.pos from unnest(v_gone) g
        union all
        select g.thread_id, g, d.pos from unnest(v_gone) g
        join message_edits d on d.thread_id = g.thread_id and d.seq = g.seq) t
    where e.pos = t.pos;
    return query
    select g, coalesce((select d.pos from message_edits d where d.thread_id = g.thread_id and d.seq = g.seq
        order by d.version desc limit 1), g.pos)
    from unnest(v_gone) g;
    delete from message_edits d using unnest(p_messages) x where d.thread_id = x.thread_id and d.seq = x.seq;
end $$;

-- Makes tombstones of messages, and tells each thread's members. Call it with the threads locked.
-- locks: the log
create or replace function message_bury(p_messages messages[], p_now timestamptz) returns void
language plpgsql volatile as $$
declare
    v_gone messages[];
    v_told bigint[];
    v_head bigint;
begin
    select array_agg(w.message), array_agg(w.told) into v_gone, v_told from message_withdraw(p_messages, p_now) w;
    v_head := log_begin();
    insert into events (pos, at, type, thread_id, withdraws, body)
    select v_head + g.place, p_now, 'message.deleted', (g.message).thread_id, g.told,
        event_json('message.deleted', (g.message).thread_id, p_now, message_view(g.message))
    from (select v_gone[i] as message, v_told[i] as told, i as place from generate_subscripts(v_gone, 1) i) g;
    perform log_announce(receipt_recount(v_head + cardinality(v_gone), p_now, p_messages));
end $$;
