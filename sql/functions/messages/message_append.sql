-- Sending messages.

-- Appends a batch of messages. An item that is refused changes nothing and does not affect the others. A message's id
-- is unique in its thread. `p_mentions` holds one array literal an item, null for all without mentions. `p_known` may
-- hold a seq that the item's thread is known to have reached: a right one saves time, a wrong one costs time and nothing
-- else. `p_node` is the calling node, which needs no notification of its own events (log_announce). `p_now` is for
-- tests; the times in a thread never decrease. `p_expires_s` holds the seconds after which an item's content is
-- withdrawn, null for all or one without; a thread that keeps content for less time withdraws it earlier.
-- `p_attachments` holds an array literal for each item with attachments, null for all or one without. `p_is_silent`: the
-- messages alert nobody.
-- Returns: a row for each item, in no particular order:
--   item      the item's index in the arrays, from 1
--   outcome   created | exists (the same message is stored already) | conflict (another message has the id) | no_thread
--             (there is none, or the sender is not a member) | not_joined (the sender is invited only; a sender who has
--             left learns with exists that the message was stored before) | blocked (by
--             the other person of a direct thread) | no_reply (reply_to is not a message of this thread, or the sender
--             does not see it) | no_mention (somebody mentioned is not a member) | no_attachment (one of the
--             attachments does not exist, or the sender does not see it) | attachment_not_ready | attachment_refused
--   message   with exists: the stored message as JSON text
--   seq, pos, at, epoch, name, image, expires_at, until_delivered   with created: what was written to the log, as
--             log_read returns it
--   payload   with created and attachments: the payload as it is stored
-- Locks: as message_append_new
-- Costs: as message_append_new, and a look-up for each item
create or replace function message_append(
    p_ids uuid[], p_threads uuid[], p_senders uuid[], p_types text[], p_payloads json[], p_reply_to uuid[],
    p_mentions text[], p_known bigint[] default null, p_node text default '', p_now timestamptz default null,
    p_expires_s int[] default null, p_attachments text[] default null, p_is_silent boolean default false
) returns table (item int, outcome text, message text, seq bigint, pos bigint, at timestamptz, epoch int, name text,
    image text, expires_at timestamptz, until_delivered boolean, payload json)
language plpgsql volatile as $$
declare
    v_taken int[];
    v_new int[];
begin
    -- A message that another call is about to store is stored after this, or will never be.
    perform from threads t where t.id = any (p_threads) order by t.id for no key update;
    v_taken := message_taken(p_ids, p_threads, p_senders);
    if v_taken = '{}' then
        return query
        select a.* from message_append_new(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions, p_known,
            p_node, p_now, p_expires_s, p_attachments, p_is_silent) a;
        return;
    end if;
    v_new := array(select i from generate_subscripts(p_ids, 1) i where i <> all (v_taken));
    if v_new <> '{}' then
        return query
        select v_new[a.item], a.outcome, a.message, a.seq, a.pos, a.at, a.epoch, a.name, a.image, a.expires_at,
            a.until_delivered, a.payload
        from message_append_new(
            array(select p_ids[i] from unnest(v_new) i), array(select p_threads[i] from unnest(v_new) i),
            array(select p_senders[i] from unnest(v_new) i), array(select p_types[i] from unnest(v_new) i),
            array(select p_payloads[i] from unnest(v_new) i), array(select p_reply_to[i] from unnest(v_new) i),
            array(select p_mentions[i] from unnest(v_new) i), array(select p_known[i] from unnest(v_new) i),
            p_node, p_now, array(select p_expires_s[i] from unnest(v_new) i),
            array(select p_attachments[i] from unnest(v_new) i), p_is_silent) a;
    end if;
    return query
    select g.item::int, c.outcome, case when c.outcome = 'exists' then message_view(m) end, m.seq, null::bigint,
        null::timestamptz, null::int, null, null, null::timestamptz, null::boolean, null::json
    from unnest(p_ids, p_threads, p_senders, p_types, p_payloads, p_reply_to, p_mentions)
        with ordinality as g (id, thread_id, sender_id, type, payload, reply_to, mentions, item)
    cross join message_by_hash(g.thread_id, g.id) m
    -- A message whose content was withdrawn cannot be compared: it counts as the same.
    cross join lateral (select case when m.thread_id = g.thread_id and m.sender_id = g.sender_id and (m.payload is null
            or (m.type = g.type and message_is_payload(m, g.payload, p_attachments[g.item])
                and m.reply_to is not distinct from g.reply_to and m.mentions = coalesce(g.mentions, '{}')::uuid[])
            or policy_has_rewritten(m, g.type, g.payload, g.reply_to, coalesce(g.mentions, '{}')::uuid[]))
        then 'exists' else 'conflict' end as outcome) c
    where g.item = any (v_taken) and message_may_compare(m, g.thread_id, g.sender_id);
    -- The others' id was that of an earlier item which was refused, or the sender may not learn that it is taken: judged
    -- again, without that item.
    v_taken := array(select i from unnest(v_taken) i
        where not coalesce(message_may_compare(message_by_hash(p_threads[i], p_ids[i]), p_threads[i], p_senders[i]), false));
    if v_taken <> '{}' then
        return query
        select v_taken[a.item], a.outcome, a.message, a.seq, a.pos, a.at, a.epoch, a.name, a.image, a.expires_at,
            a.until_delivered, a.payload
        from message_append(
            array(select p_ids[i] from unnest(v_taken) i), array(select p_threads[i] from unnest(v_taken) i),
            array(select p_senders[i] from unnest(v_taken) i), array(select p_types[i] from unnest(v_taken) i),
            array(select p_payloads[i] from unnest(v_taken) i), array(select p_reply_to[i] from unnest(v_taken) i),
            array(select p_mentions[i] from unnest(v_taken) i), array(select p_known[i] from unnest(v_taken) i),
            p_node, p_now, array(select p_expires_s[i] from unnest(v_taken) i),
            array(select p_attachments[i] from unnest(v_taken) i)) a;
    end if;
end $$;

-- Returns: the items whose id is taken by a stored message, or by an earlier item of the batch.
create or replace function message_taken(p_ids uuid[], p_threads uuid[], p_senders uuid[]) returns int[]
language plpgsql stable as $$
begin
    return array(
        select g.item::int
        from (
            select x.*, row_number() over (partition by x.thread_id, x.id order by x.item) as place
            from unnest(p_ids, p_threads, p_senders) with ordinality as x (id, thread_id, sender_id, item)) g
        cross join message_by_hash(g.thread_id, g.id) m
        where g.place > 1 or message_may_compare(m, g.thread_id, g.sender_id)
        order by g.item);
end $$;

-- Returns: the message that has this place in the index of ids, all null if there is none. In one case of 2³² it is of
-- another thread, whose messages then cannot have this id.
create or replace function message_by_hash(p_thread uuid, p_message uuid) returns messages
language plpgsql stable as $$
declare
    v_message messages;
begin
    select * into v_message from messages m where uuid_hash(m.thread_id) = uuid_hash(p_thread) and m.id = p_message;
    return v_message;
end $$;

-- Returns: whether a sender may learn that a stored message has the id: a member of the thread, or who sent the message
-- and has left. Null without a message.
create or replace function message_may_compare(m messages, p_thread uuid, p_sender uuid) returns boolean
language plpgsql stable as $$
begin
    return m.seq is not null and ((m.sender_id = p_sender and m.thread_id = p_thread) or exists (select from members x
        where x.thread_id = p_thread and x.user_id = p_sender and x.status = 'joined'));
end $$;

-- Appends a batch of messages whose ids are new, so nothing looks for them. Arguments and rows are those of message_append.
-- A thread that a member has archived returns to the member's inbox if a message alerts the member, so not with
-- `p_is_silent`.
-- Fails: 23505, if an id is taken: then nothing is stored, and message_append finds out which.
-- Locks: the threads by id (for no key update, which writes no new row version), the attachments by id, members' rows
-- (unarchive_lock), then the log
-- Costs: one set-based statement. It locks the log in its middle, when all items are judged, so the lock is held for
-- the inserts and the commit only. What was judged cannot change meanwhile, because the threads are locked. Within the
-- batch, positions follow the threads, so that one order serves seqs and positions. Planner
-- settings: the plan must use index probes whatever the statistics say. Where most threads have one message, sorting
-- all messages of a thread seems as cheap as looking one up.
create or replace function message_append_new(
    p_ids uuid[], p_threads uuid[], p_senders uuid[], p_types text[], p_payloads json[], p_reply_to uuid[],
    p_mentions text[], p_known bigint[], p_node text, p_now timestamptz, p_expires_s int[], p_attachments text[],
    p_is_silent boolean default false
) returns table (item int, outcome text, message text, seq bigint, pos bigint, at timestamptz, epoch int, name text,
    image text, expires_at timestamptz, until_delivered boolean, payload json)
language plpgsql volatile
set enable_sort = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_now timestamptz;
    -- By item. Null where content is kept.
    v_keep_s int[];
    v_until_delivered boolean[];
    -- By item, of a batch with attachments: why they are refused.
    v_refusals text[];
    v_keeps boolean;
    v_has_archived boolean;
    -- Members who have archived a thread of the batch.
    v_archived record;
begin
    select bool_or(l.keep_s is not null), bool_or(l.has_archived) into v_keeps, v_has_archived
    from (select t.keep_s, t.has_archived from threads t where t.id = any (p_threads) order by t.id for no key update) l;
    if v_keeps or p_expires_s is not null then
        select k.keep_s, k.until_delivered into v_keep_s, v_until_delivered
        from retention_of(p_threads, p_expires_s) k;
    end if;
    if p_attachments is not null then
        select j.refusals, j.payloads into v_refusals, p_payloads
        from attachment_judge(p_senders, p_attachments, p_payloads) j;
    end if;
    v_now := coalesce(p_now, stamp());
    if p_is_silent then
        v_has_archived := false;
    end if;
    if v_has_archived then
        select k.threads, k.users into v_archived from unarchive_lock(p_threads, p_mentions, v_now) k;
    end if;

    return query
    with judged as materialized (
        select g.*, coalesce(h.seq, 0) as head, greatest(v_now, h.created_at) as at,
            -- In functions: what this statement refers to costs messages without replies and mentions, too.
            case
                when s.status is distinct from 'joined'
                    then message_refusal(case s.status when 'invited' then 'not_joined' else 'no_thread' end,
                        message_was_sent(g.thread_id, g.sender_id, g.id))
                when s.blocked then message_refusal('blocked', message_is_stored(g.thread_id, g.id))
                when g.reply_to is not null and message_reply_to(g.thread_id, g.sender_id, s.hides, s.hidden_before_seq, g.reply_to) is null
                    then message_refusal('no_reply', message_is_stored(g.thread_id, g.id))
                when g.mentions <> '{}' and not message_may_mention(g.thread_id, g.mentions::uuid[])
                    then message_refusal('no_mention', message_is_stored(g.thread_id, g.id))
                when v_refusals[g.item] is not null
                    then message_refusal(v_refusals[g.item], message_is_stored(g.thread_id, g.id))
                else 'created'
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
        select (b.log).head, (b.log).epoch, log_announce((b.log).head + b.count, p_node)
        from (
            select log_enter() as log, c.count from (select count(*) from judged j where j.verdict = 'created') c (count)
            where c.count > 0) b
    ), numbered as materialized (
        select j.*, j.head + row_number() over (partition by j.thread_id order by j.item) as seq,
            l.head + row_number() over (order by j.thread_id, j.item) as pos, l.epoch, u.name, u.profile_image,
            j.at + v_keep_s[j.item] * interval '1 second' as expires_at, v_until_delivered[j.item] as until_delivered
        from log l cross join judged j join users u on u.id = j.sender_id where j.verdict = 'created'
    ), stored as (
        insert into messages (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, created_at, expires_at, pos,
            until_delivered)
        select n.thread_id, n.seq, n.id, n.sender_id, n.type, n.payload, n.reply_to, coalesce(n.mentions, '{}')::uuid[], n.at,
            n.expires_at, n.pos, n.until_delivered
        from numbered n
    ), logged as (
        insert into events (pos, at, seq, expires_at, thread_id, actor_id, message_id, reply_to, type, message_type, name, image,
            body, mentions)
        select n.pos, n.at, n.seq, n.expires_at, n.thread_id, n.sender_id, n.id, n.reply_to, 'message.created', n.type, n.name,
            n.profile_image, n.payload::text, nullif(n.mentions, '{}')::uuid[]
        from numbered n
    )
    select n.item::int, n.verdict, null, n.seq, n.pos, n.at, n.epoch, n.name, n.profile_image, n.expires_at, n.until_delivered,
        case when p_attachments[n.item] is not null then n.payload end
    from numbered n
    union all
    select j.item::int, j.verdict, null, null, null, null, null, null, null, null, null, null
    from judged j where j.verdict <> 'created';

    if p_is_silent then
        -- In a statement of its own: a further column above would cost all messages.
        update events e set is_silent = true from unnest(p_threads, p_ids) g (thread_id, id)
        where e.pos = (message_find(g.thread_id, g.id)).pos;
    end if;
    -- A sender's message that is stored by now was stored by this call.
    if p_attachments is not null then
        perform attachment_use_new(p_threads, p_ids, p_senders, p_attachments);
    end if;
    if v_keep_s is not null then
        perform retention_note(p_threads, p_ids, p_senders);
    end if;
    if v_has_archived then
        perform unarchive(v_archived.threads, v_archived.users, p_threads, p_ids, p_senders, p_mentions, v_now);
    end if;
end $$;

-- Returns: the reason, unless a message with the id is stored: it may be the same one, sent before there was a reason.
-- Fails: 23505 (a message is stored)
create or replace function message_refusal(p_reason text, p_is_stored boolean) returns text
language plpgsql stable as $$
begin
    if p_is_stored then
        raise unique_violation using message = 'a message has this id';
    end if;
    return p_reason;
end $$;

-- Returns: whether the thread has a message with this id.
create or replace function message_is_stored(p_thread uuid, p_message uuid) returns boolean
language plpgsql stable as $$
begin
    return (message_find(p_thread, p_message)).seq is not null;
end $$;

-- Writes the message.created of a message that was stored at its position.
-- Locks: the caller holds the log
create or replace function message_log(m messages) returns void
language plpgsql volatile as $$
begin
    insert into events (pos, at, seq, expires_at, thread_id, actor_id, message_id, reply_to, type, message_type, name, image,
        body, mentions)
    select m.pos, m.created_at, m.seq, m.expires_at, m.thread_id, m.sender_id, m.id, m.reply_to, 'message.created', m.type,
        u.name, u.profile_image, m.payload::text, nullif(m.mentions, '{}')
    from (select) one left join users u on u.id = m.sender_id;
end $$;

-- Returns: whether the user sent this message: a retry gets the same answer after the sender has left, too.
create or replace function message_was_sent(p_thread uuid, p_sender uuid, p_message uuid) returns boolean
language sql stable as $$
    select m.seq is not null and m.sender_id is not distinct from p_sender from message_find(p_thread, p_message) m
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
