-- Appends a batch of messages: one row of answer an item, in no particular order.
--   item      the item's place in the arrays, from 1
--   outcome   created | exists (the same message is there already) | conflict (the id is taken by another message)
--             | no_thread (there is none that the sender has a part in) | not_joined (invited only)
--             | no_reply (reply_to is not a message of this thread) | no_mention (somebody mentioned is not a member)
--   message   the stored message as JSON, with created and exists
-- An item that is refused changes nothing and doesn't touch its neighbours. A message's id is unique in its thread.
-- `p_mentions` holds one array literal an item. `p_now` is for tests; a thread's times never go backwards.
-- Three set-based steps, each over arrays of the same length, because nothing costs less: no row of one step is looked
-- for again in the next. What can be told before the log's lock is taken is told before: it is held for the two inserts
-- and the commit only.
-- locks: the threads by id (for no key update, which writes no new row version), then the log
-- The planner settings: plans must be made of index probes from the first row on, whatever the statistics say so far.
create or replace function message_append(
    p_ids uuid[], p_threads uuid[], p_senders uuid[], p_types text[], p_payloads json[], p_reply_to uuid[],
    p_mentions text[], p_now timestamptz default null
) returns table (item int, outcome text, message text)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
    v_now timestamptz;
    v_head bigint;
    -- One entry an item.
    v_verdicts text[];
    v_names text[];
    v_images text[];
    v_times timestamptz[];
    v_seqs bigint[];
    v_places bigint[];
    v_bodies text[];
begin
    perform 1 from threads t where t.id = any (p_threads) order by t.id for no key update;
    v_now := coalesce(p_now, stamp());

    -- The threads' locks hold still what is judged here: their members and their heads.
    select array_agg(n.verdict), array_agg(n.name), array_agg(n.profile_image), array_agg(n.at), array_agg(n.seq),
        array_agg(n.place)
    into v_verdicts, v_names, v_images, v_times, v_seqs, v_places
    from (
        select j.verdict, j.name, j.profile_image, j.at,
            j.head + count(*) filter (where j.verdict = 'created') over (partition by j.thread_id order by j.item) as seq,
            count(*) filter (where j.verdict = 'created') over (order by j.item) as place
        from (
            select g.item, g.thread_id, u.name, u.profile_image, coalesce(h.seq, 0) as head,
                greatest(v_now, h.created_at) as at,
                case
                    when s.status is null or s.status in ('left', 'removed') then 'no_thread'
                    when s.status = 'invited' then 'not_joined'
                    when case when array_position(p_ids, g.id) < g.item then (
                            select min(o.item) from unnest(p_ids, p_threads) with ordinality as o (id, thread_id, item)
                            where o.id = g.id and o.thread_id = g.thread_id) < g.item end
                        -- Scalar look-ups and not EXISTS, which the planner may turn into a hash of the whole table.
                        or (select m.seq from messages m where m.thread_id = g.thread_id and m.id = g.id) is not null
                        then 'again'
                    when g.reply_to is not null
                        and (select m.seq from messages m where m.thread_id = g.thread_id and m.id = g.reply_to) is null
                        then 'no_reply'
                    when g.mentions <> '{}' and exists
                        (select from unnest(g.mentions::uuid[]) x (id) where not exists (select from members n
                            where n.thread_id = g.thread_id and n.user_id = x.id and n.status = 'joined'))
                        then 'no_mention'
                    else 'created'
                end as verdict
            from unnest(p_ids, p_threads, p_senders, p_reply_to, p_mentions)
                with ordinality as g (id, thread_id, sender_id, reply_to, mentions, item)
            left join members s on s.thread_id = g.thread_id and s.user_id = g.sender_id
            left join users u on u.id = g.sender_id
            left join lateral (select m.seq, m.created_at from messages m where m.thread_id = g.thread_id
                order by m.seq desc limit 1) h on true
        ) j
        order by j.item
    ) n;

    if 'created' = any (v_verdicts) then
        select array_agg(case when g.verdict = 'created' then message_json(g.thread_id, g.seq, g.id, g.sender_id, g.name,
            g.image, g.type, g.payload, g.reply_to, g.mentions::uuid[], g.at, null, null, null) end)
        into v_bodies
        from unnest(p_threads, v_seqs, p_ids, p_senders, v_names, v_images, p_types, p_payloads, p_reply_to, p_mentions,
            v_times, v_verdicts)
            as g (thread_id, seq, id, sender_id, name, image, type, payload, reply_to, mentions, at, verdict);

        v_head := log_begin();
        insert into messages as m (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, created_at, pos)
        select g.thread_id, g.seq, g.id, g.sender_id, g.type, g.payload, g.reply_to, g.mentions::uuid[], g.at,
            v_head + g.place
        from unnest(p_threads, v_seqs, p_ids, p_senders, p_types, p_payloads, p_reply_to, p_mentions, v_times, v_places,
            v_verdicts) as g (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, at, place, verdict)
        where g.verdict = 'created';
        insert into events (pos, at, type, thread_id, body)
        select v_head + g.place, g.at, 'message.created', g.thread_id,
            event_json('message.created', g.thread_id, g.at, g.body)
        from unnest(v_places, v_times, p_threads, v_bodies) as g (place, at, thread_id, body)
        where g.body is not null;
        perform pg_notify('parley_log', (v_head + v_places[cardinality(v_places)])::text);
    end if;

    return query
    select g.item::int, g.verdict, g.body
    from unnest(v_verdicts, v_bodies) with ordinality as g (verdict, body, item)
    where g.verdict <> 'again';

    -- Retries: compared with what is stored by now, this batch's own messages included.
    if 'again' = any (v_verdicts) then
        return query
        select g.item::int, r.verdict, case when r.verdict = 'exists' then
            message_json(m.thread_id, m.seq, m.id, m.sender_id, u.name, u.profile_image, m.type, m.payload, m.reply_to,
                m.mentions, m.created_at, m.edited_at, m.deleted_at, m.expires_at) end
        from unnest(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions)
            with ordinality as g (id, thread_id, sender_id, type, payload, reply_to, mentions, item)
        join messages m on m.thread_id = g.thread_id and m.id = g.id
        left join users u on u.id = m.sender_id
        cross join lateral (select case when m.sender_id = g.sender_id and (m.deleted_at is not null
                or (m.type = g.type and m.payload::text = g.payload::text
                    and m.reply_to is not distinct from g.reply_to and m.mentions = g.mentions::uuid[]))
            then 'exists' else 'conflict' end as verdict) r
        where v_verdicts[g.item] = 'again';
    end if;
end $$;
