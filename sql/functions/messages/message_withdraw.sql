-- Withdrawing the content of messages.

-- Deletes the content of messages everywhere: in their rows, their earlier versions, the search index, and the log's
-- events. Attachments that nothing else uses are deleted. With `p_deleted_at` they become tombstones without reactions
-- and mentions; then only open reports keep a copy (report_forget).
-- What a legal hold covers is kept first; `p_removal` says why it goes: deleted | expired | erased.
-- Returns: each message as it is then, and the last position at which the log had its content: nodes forget the
-- thread's events up to it.
-- Locks: the holds (hold_enter), the attachments by id, the reports, held edits; the caller holds the threads and has
-- not locked the log yet
create or replace function message_withdraw(p_messages messages[], p_deleted_at timestamptz, p_removal text)
returns table (message messages, told bigint)
language plpgsql volatile as $$
declare
    v_gone messages[];
begin
    perform hold_keep(p_messages, p_removal, coalesce(p_deleted_at, stamp()));
    perform search_remove(x) from unnest(p_messages) x;
    perform attachment_release(p_messages);
    perform report_forget(array(select x.thread_id from unnest(p_messages) x), array(select x.seq from unnest(p_messages) x),
        p_deleted_at is null);
    perform policy_forget(p_messages);
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
    update events e set body = event_json(e.type, t.thread_id, e.at, message_view(t.message)), message_id = null,
        message_type = null, name = null, image = null, reply_to = null, mentions = null, expires_at = null
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

-- Makes tombstones of messages, and notifies each thread's members. `p_actor` did it; null for the server.
-- `p_removal` as in message_withdraw.
-- Locks: the log; the caller holds the threads
create or replace function message_tombstone(
    p_messages messages[], p_now timestamptz, p_actor uuid, p_removal text default 'deleted') returns void
language plpgsql volatile as $$
declare
    v_gone messages[];
    v_told bigint[];
    v_head bigint;
begin
    select array_agg(w.message), array_agg(w.told) into v_gone, v_told from message_withdraw(p_messages, p_now, p_removal) w;
    v_head := log_begin();
    insert into events (pos, at, type, thread_id, withdraws, seq, actor_id, body)
    select v_head + g.place, p_now, 'message.deleted', (g.message).thread_id, g.told, (g.message).seq, p_actor,
        event_json('message.deleted', (g.message).thread_id, p_now, message_view(g.message))
    from (select v_gone[i] as message, v_told[i] as told, i as place from generate_subscripts(v_gone, 1) i) g;
    perform log_announce(receipt_recount(v_head + cardinality(v_gone), p_now, p_messages));
end $$;
