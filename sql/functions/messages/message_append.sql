-- Sending messages.

-- Appends a batch of messages. An item that is refused changes nothing and does not affect the others. A message's id
-- is unique in its thread. `p_mentions` holds one array literal an item. `p_known` may hold a seq that the item's
-- thread is known to have reached: a right one saves time, a wrong one costs time and nothing else. `p_node` is the
-- calling node, which needs no notification of its own events (log_announce). `p_now` is for tests; the times in a
-- thread never decrease. `p_expires_s` holds the seconds after which an item's content is withdrawn, null for all or
-- one without; a thread that keeps content for less time withdraws it earlier. `p_attachments` holds an array literal
-- for each item with attachments, null for all or one without.
-- Returns: a row for each item, in no particular order:
--   item      the item's index in the arrays, from 1
--   outcome   created | exists (the same message is stored already) | conflict (another message has the id) | no_thread
--             (there is none, or the sender is not a member) | not_joined (the sender is invited only; a sender who has
--             left learns with exists that the message was stored before) | blocked (by
--             the other person of a direct thread) | no_reply (reply_to is not a message of this thread, or the sender
--             does not see it) | no_mention (somebody mentioned is not a member) | no_attachment (one of the
--             attachments does not exist, or the sender does not see it) | attachment_not_ready | attachment_refused
--   message, seq   with created and exists: the stored message as JSON text, and its seq
--   pos, at, event, epoch, until_delivered   with created: what was written to the log, as log_read returns it
-- Locks: the threads by id (for no key update, which writes no new row version), the attachments by id, then the log
-- Costs: one set-based statement. It locks the log in its middle, when all items are judged, so the lock is held for
-- the inserts and the commit only. What was judged cannot change meanwhile, because the threads are locked. Planner
-- settings: the plan must use index probes whatever the statistics say. Where most threads have one message, sorting
-- all messages of a thread seems as cheap as looking one up.
create or replace function message_append(
    p_ids uuid[], p_threads uuid[], p_senders uuid[], p_types text[], p_payloads json[], p_reply_to uuid[],
    p_mentions text[], p_known bigint[] default null, p_node text default '', p_now timestamptz default null,
    p_expires_s int[] default null, p_attachments text[] default null
) returns table (item int, outcome text, message text, seq bigint, pos bigint, at timestamptz, event text, epoch int,
    until_delivered boolean)
language plpgsql volatile
set enable_sort = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_now timestamptz;
    v_first bigint;
    v_last bigint;
    v_again int[];
    v_row record;
    -- By item. Null where content is kept.
    v_keep_s int[];
    v_until_delivered boolean[];
    -- By item, of a batch with attachments: the payloads as they were sent, and why attachments are refused.
    v_sent json[];
    v_refusals text[];
    v_with_attachments int[];
begin
    if (select bool_or(l.keep_s is not null) from (
        select t.keep_s from threads t where t.id = any (p_threads) order by t.id for no key update) l)
        or p_expires_s is not null then
        select k.keep_s, k.until_delivered into v_keep_s, v_until_delivered
        from retention_of(p_threads, p_expires_s) k;
    end if;
    if p_attachments is not null then
        v_sent := p_payloads;
        select j.refusals, j.payloads into v_refusals, p_payloads
        from attachment_judge(p_senders, p_attachments, v_sent) j;
    end if;
    v_now := coalesce(p_now, stamp());

    for v_row in
    with judged as materialized (
        select g.*, coalesce(h.seq, 0) as head, greatest(v_now, h.created_at) as at,
            case
                when s.status is distinct from 'joined' and not message_was_sent(g.thread_id, g.sender_id, g.id)
                    then case s.status when 'invited' then 'not_joined' else 'no_thread' end
                when case when array_position(p_ids, g.id) < g.item then (
                        select min(o.item) from unnest(p_ids, p_threads) with ordinality as o (id, thread_id, item)
                        where o.id = g.id and o.thread_id = g.thread_id) < g.item end
                    -- A scalar look-up: the planner may turn EXISTS into a hash of the whole table. `between`, ordered
                    -- by id: an index that has only the thread never seems as good, and would be read for all of it.
                    or (select m.seq from messages m where m.thread_id = g.thread_id and m.id between g.id and g.id
                        order by m.id limit 1) is not null
                    then 'again'
                when s.blocked then 'blocked'
                -- In functions: what this statement refers to costs messages without replies and mentions, too.
                when g.reply_to is not null and message_reply_to(g.thread_id, g.sender_id, s.hides, s.hidden_before_seq, g.reply_to) is null
                    then 'no_reply'
                when g.mentions <> '{}' and not message_may_mention(g.thread_id, g.mentions::uuid[]) then 'no_mention'
                else coalesce(v_refusals[g.item], 'created')
            end as verdict
        from unnest(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions, p_known)
            with ordinality as g (id, thread_id, sender_id, type, payload, reply_to, mentions, known, item)
        left join members s on s.thread_id = g.thread_id and s.user_id = g.sender_id
        -- The thread's head. Without a lower bound the look-up reads a whole page of the index.
        left join lateral (
            (select m.seq, m.created_at from messages m where m.thread_id = g.thread_id and m.seq >= g.known
                order by m.seq desc limit 1)
            union all
            (select m.seq, m.created_at from messages m where m.thread_id = g.thread_id
                order by m.seq desc limit 1)
            limit 1) h on true
    ), log as materialized (
        select (b.log).head, (b.log).epoch from (
            select log_enter() as log from (select count(*) from judged j where j.verdict = 'created') c (count)
            where c.count > 0) b
    ), stored as (
        insert into messages as m (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, created_at,
            expires_at, pos, until_delivered)
        select j.thread_id, j.head + row_number() over (partition by j.thread_id order by j.item), j.id, j.sender_id,
            j.type, j.payload, j.reply_to, j.mentions::uuid[], j.at, j.at + v_keep_s[j.item] * interval '1 second',
            l.head + row_number() over (order by j.item), v_until_delivered[j.item]
        from log l cross join judged j where j.verdict = 'created'
        returning m.*
    ), shown as materialized (
        select s.thread_id, s.seq, s.id, s.sender_id, s.pos, s.created_at, message_json(s.thread_id, s.seq, s.id, s.sender_id, u.name,
            u.profile_image, s.type, s.payload, s.reply_to, s.mentions, s.created_at, null, null, s.expires_at) as body
        from stored s join users u on u.id = s.sender_id
    ), told as materialized (
        select s.*, event_json('message.created', s.thread_id, s.created_at, s.body) as event from shown s
    ), logged as (
        insert into events (pos, at, type, thread_id, seq, actor_id, body)
        select t.pos, t.created_at, 'message.created', t.thread_id, t.seq, t.sender_id, t.event from told t
    )
    select j.item, j.verdict, t.body, t.seq, t.pos, t.created_at, t.event, l.epoch
    from judged j
    left join (log l cross join told t) on j.verdict = 'created' and t.id = j.id and t.thread_id = j.thread_id
    loop
        if v_row.verdict = 'again' then
            v_again := v_again || v_row.item::int;
        else
            v_first := least(v_first, v_row.pos);
            v_last := greatest(v_last, v_row.pos);
            item := v_row.item;
            outcome := v_row.verdict;
            message := v_row.body;
            seq := v_row.seq;
            pos := v_row.pos;
            at := v_row.created_at;
            event := v_row.event;
            epoch := v_row.epoch;
            until_delivered := v_until_delivered[v_row.item];
            return next;
            if p_attachments[v_row.item] is not null and v_row.pos is not null then
                v_with_attachments := v_with_attachments || v_row.item::int;
            end if;
        end if;
    end loop;

    if v_last is not null then
        if v_with_attachments is not null then
            perform attachment_use_new(
                array(select p_threads[i] from unnest(v_with_attachments) i),
                array(select p_ids[i] from unnest(v_with_attachments) i),
                array(select p_attachments[i] from unnest(v_with_attachments) i));
        end if;
        if v_keep_s is not null then
            perform retention_note(p_threads, p_ids, v_first);
        end if;
        perform log_announce(v_last, p_node);
    end if;

    if v_again is not null then
        return query
        select a.* from message_append_again(v_again, p_ids, p_threads, p_senders, p_types, coalesce(v_sent, p_payloads),
            p_reply_to, p_mentions, p_known, p_node, p_now, p_expires_s, p_attachments) a;
    end if;
end $$;

-- Appends the items of a batch whose id is taken, by a stored message or by an earlier item (`p_again`, by their index).
-- They are compared with what is stored by now, including the batch's own messages. The other arguments, and what it
-- returns, are those of message_append; `p_payloads` are as sent.
create or replace function message_append_again(
    p_again int[], p_ids uuid[], p_threads uuid[], p_senders uuid[], p_types text[], p_payloads json[], p_reply_to uuid[],
    p_mentions text[], p_known bigint[], p_node text, p_now timestamptz, p_expires_s int[], p_attachments text[]
) returns table (item int, outcome text, message text, seq bigint, pos bigint, at timestamptz, event text, epoch int,
    until_delivered boolean)
language plpgsql volatile as $$
begin
    return query
    select g.item::int, r.verdict, case when r.verdict = 'exists' then message_view(m) end, m.seq, null::bigint,
        null::timestamptz, null::text, null::int, null::boolean
    from unnest(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions)
        with ordinality as g (id, thread_id, sender_id, type, payload, reply_to, mentions, item)
    cross join message_find(g.thread_id, g.id) m
    -- A message whose content was withdrawn cannot be compared: it counts as the same.
    cross join lateral (select case when m.sender_id = g.sender_id and (m.payload is null
            or (m.type = g.type and message_is_payload(m, g.payload, p_attachments[g.item])
                and m.reply_to is not distinct from g.reply_to and m.mentions = g.mentions::uuid[])
            or policy_has_rewritten(m, g.type, g.payload, g.reply_to, g.mentions::uuid[]))
        then 'exists' else 'conflict' end as verdict) r
    where g.item = any (p_again) and m.seq is not null;
    -- Their id was that of an earlier item which was refused: judged again, without that item.
    p_again := array(select i from unnest(p_again) i where (message_find(p_threads[i], p_ids[i])).seq is null);
    if p_again <> '{}' then
        return query
        select p_again[a.item], a.outcome, a.message, a.seq, a.pos, a.at, a.event, a.epoch, a.until_delivered
        from message_append(
            array(select p_ids[i] from unnest(p_again) i), array(select p_threads[i] from unnest(p_again) i),
            array(select p_senders[i] from unnest(p_again) i), array(select p_types[i] from unnest(p_again) i),
            array(select p_payloads[i] from unnest(p_again) i), array(select p_reply_to[i] from unnest(p_again) i),
            array(select p_mentions[i] from unnest(p_again) i), array(select p_known[i] from unnest(p_again) i),
            p_node, p_now, array(select p_expires_s[i] from unnest(p_again) i),
            array(select p_attachments[i] from unnest(p_again) i)) a;
    end if;
end $$;

-- Returns: whether the user sent this message: a retry gets the same answer after the sender has left, too.
create or replace function message_was_sent(p_thread uuid, p_sender uuid, p_message uuid) returns boolean
language sql stable as $$
    select coalesce((message_find(p_thread, p_message)).sender_id = p_sender, false)
$$;

-- Returns: the seq of the message that an item replies to; null if its sender sees no such message.
create or replace function message_reply_to(
    p_thread uuid, p_user uuid, p_hides boolean, p_hidden_before bigint, p_message uuid) returns bigint
language plpgsql stable as $$
declare
    v_seq bigint := (message_find(p_thread, p_message)).seq;
begin
    return case when v_seq < p_hidden_before or (p_hides and message_is_hidden(p_thread, p_user, v_seq)) then null
        else v_seq end;
end $$;

-- Returns: whether all of them are members of the thread.
create or replace function message_may_mention(p_thread uuid, p_users uuid[]) returns boolean
language plpgsql stable as $$
begin
    return not exists (select from unnest(p_users) x (id) where not exists (
        select from members n where n.thread_id = p_thread and n.user_id = x.id and n.status = 'joined'));
end $$;

-- Returns: whether the message was sent with this payload. Its attachments are what they were then: a message that has
-- not been withdrawn keeps them, and nothing changes them while they are used.
create or replace function message_is_payload(m messages, p_payload json, p_attachments text) returns boolean
language plpgsql stable as $$
begin
    return message_sent(m)::text
        = case when p_attachments is null then p_payload
            else attachment_embed(p_payload, p_attachments::uuid[]) end::text;
end $$;

-- Returns: the payload that the message was sent with, before any edits.
create or replace function message_sent(m messages) returns json
language plpgsql stable as $$
begin
    if m.edited_at is null then
        return m.payload;
    end if;
    return (select e.payload from message_edits e
        where e.thread_id = m.thread_id and e.seq = m.seq order by e.version limit 1);
end $$;
