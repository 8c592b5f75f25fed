-- Appends a batch of messages: one row of answer an item, in no particular order.
--   item      the item's place in the arrays, from 1
--   outcome   created | exists (the same message is there already) | conflict (the id is taken by another message)
--             | no_thread (there is none that the sender has a part in) | not_joined (invited only)
--             | no_reply (reply_to is not a message of this thread) | no_mention (somebody mentioned is not a member)
--   message   the stored message as JSON, with created and exists
-- An item that is refused changes nothing and doesn't touch its neighbours. A message's id is unique in its thread.
-- `p_mentions` holds one array literal an item. `p_now` is for tests; a thread's times never go backwards.
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
    v_head bigint;
    v_now timestamptz;
    v_last bigint;
    v_again int[];
    v_row record;
begin
    perform 1 from threads t where t.id = any (p_threads) order by t.id for no key update;
    v_head := log_begin();
    v_now := coalesce(p_now, stamp());

    for v_row in
    with given as (
        select g.item::int as item, g.id, g.thread_id, g.sender_id, g.type, g.payload, g.reply_to,
            g.mentions::uuid[] as mentions,
            row_number() over (partition by g.thread_id, g.id order by g.item) as copy
        from unnest(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions)
            with ordinality as g (id, thread_id, sender_id, type, payload, reply_to, mentions, item)
    ), judged as (
        select g.*,
            case
                when s.status is null or s.status in ('left', 'removed') then 'no_thread'
                when s.status = 'invited' then 'not_joined'
                -- Scalar look-ups and not EXISTS, which the planner may turn into a hash of the whole table.
                when g.copy > 1
                    or (select m.seq from messages m where m.thread_id = g.thread_id and m.id = g.id) is not null
                    then 'again'
                when g.reply_to is not null
                    and (select m.seq from messages m where m.thread_id = g.thread_id and m.id = g.reply_to) is null
                    then 'no_reply'
                when g.mentions <> '{}' and exists
                    (select from unnest(g.mentions) u (id) where not exists (select from members n
                        where n.thread_id = g.thread_id and n.user_id = u.id and n.status = 'joined')) then 'no_mention'
                else 'created'
            end as verdict
        from given g
        left join members s on s.thread_id = g.thread_id and s.user_id = g.sender_id
    ), numbered as (
        select j.*, v_head + row_number() over (order by j.item) as pos,
            row_number() over (partition by j.thread_id order by j.item) as nth
        from judged j where j.verdict = 'created'
    ), heads as (
        select t.thread_id, h.seq, greatest(v_now, h.created_at) as at
        from (select distinct n.thread_id from numbered n) t
        left join lateral (select m.seq, m.created_at from messages m where m.thread_id = t.thread_id
            order by m.seq desc limit 1) h on true
    ), stored as (
        insert into messages as m (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, created_at, pos)
        select n.thread_id, coalesce(h.seq, 0) + n.nth, n.id, n.sender_id, n.type, n.payload, n.reply_to, n.mentions,
            h.at, n.pos
        from numbered n join heads h on h.thread_id = n.thread_id
        returning m.*
    ), shown as (
        select s.thread_id, s.pos, s.created_at, message_json(s.thread_id, s.seq, s.id, s.sender_id, u.name,
            u.profile_image, s.type, s.payload, s.reply_to, s.mentions, s.created_at, s.edited_at, s.deleted_at,
            s.expires_at) as body
        from stored s join users u on u.id = s.sender_id
    ), logged as (
        insert into events (pos, at, type, thread_id, body)
        select s.pos, s.created_at, 'message.created', s.thread_id,
            event_json('message.created', s.thread_id, s.created_at, s.body)
        from shown s
    )
    select j.item, j.verdict, s.pos, s.body
    from judged j left join numbered n on n.item = j.item left join shown s on s.pos = n.pos
    loop
        if v_row.verdict = 'again' then
            v_again := v_again || v_row.item;
        else
            v_last := greatest(v_last, v_row.pos);
            item := v_row.item;
            outcome := v_row.verdict;
            message := v_row.body;
            return next;
        end if;
    end loop;

    if v_last is not null then
        perform log_announce(v_last);
    end if;

    -- Retries: compared with what is stored by now, this batch's own messages included.
    if v_again is not null then
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
        where g.item = any (v_again);
    end if;
end $$;
