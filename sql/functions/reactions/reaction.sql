-- Reactions: who answered a message with which emoji. The calls fail with PY404 thread_not_found, message_not_found
-- and PY403 not_joined. Doing the same again changes nothing.

-- Returns: the reactions of a message as JSON text, the earliest first; null without any. With `p_user` each says
-- whether it is that user's, too.
create or replace function reactions_json(p_thread uuid, p_seq bigint, p_user uuid default null) returns text
language plpgsql stable as $$
begin
    return (
        select '{' || string_agg(to_json(c.emoji) || ':{"count":' || c.count
            || case when p_user is null then '' else ',"me":' || exists (select from message_reactions r
                where r.thread_id = p_thread and r.seq = p_seq and r.user_id = p_user and r.emoji = c.emoji)::text end
            || '}', ',' order by c.created_at, c.emoji) || '}'
        from message_reaction_counts c where c.thread_id = p_thread and c.seq = p_seq);
end $$;

-- Adds a reaction.
-- Fails: also PY409 message_deleted; PY403 not_reachable; PY422 emoji (the message has `p_kind_max` different ones
-- already).
-- Locks: the thread, then the log
create or replace function reaction_put(
    p_user uuid, p_thread uuid, p_message uuid, p_emoji text, p_kind_max int) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_member members;
    v_message messages;
    v_count int;
begin
    perform thread_lock_joined(p_thread, p_user);
    v_member := member_joined(p_thread, p_user);
    v_message := message_of(v_member, p_message);
    if v_message.deleted_at is not null then
        perform refuse(409, 'message_deleted', 'This message was deleted.');
    elsif v_member.blocked then
        perform block_refuse();
    end if;
    insert into message_reactions (thread_id, seq, user_id, emoji, created_at)
    values (p_thread, v_message.seq, p_user, p_emoji, v_now) on conflict do nothing;
    if not found then
        return;
    end if;
    insert into message_reaction_counts as c (thread_id, seq, emoji, count, created_at)
    values (p_thread, v_message.seq, p_emoji, 1, v_now)
    on conflict (thread_id, seq, emoji) do update set count = c.count + 1
    returning c.count into v_count;
    if v_count = 1 and (select count(*) from message_reaction_counts c
        where c.thread_id = p_thread and c.seq = v_message.seq) > p_kind_max then
        perform refuse(422, 'invalid', format('A message has at most %s different reactions.', p_kind_max), 'emoji');
    end if;
    update messages m set reacted = true
    where m.thread_id = p_thread and m.seq = v_message.seq and m.id = v_message.id and m.reacted is null;
    perform reaction_log(v_message, v_now, p_user, p_emoji, v_count, true);
end $$;

-- Removes a reaction.
-- Locks: the thread, then the log
create or replace function reaction_delete(p_user uuid, p_thread uuid, p_message uuid, p_emoji text) returns void
language plpgsql volatile as $$
declare
    v_message messages;
    v_count int;
begin
    perform thread_lock_joined(p_thread, p_user);
    v_message := message_of(member_joined(p_thread, p_user), p_message);
    delete from message_reactions r
    where r.thread_id = p_thread and r.seq = v_message.seq and r.user_id = p_user and r.emoji = p_emoji;
    if not found then
        return;
    end if;
    update message_reaction_counts c set count = c.count - 1
    where c.thread_id = p_thread and c.seq = v_message.seq and c.emoji = p_emoji
    returning c.count into v_count;
    delete from message_reaction_counts c
    where c.thread_id = p_thread and c.seq = v_message.seq and c.emoji = p_emoji and c.count = 0;
    perform reaction_log(v_message, stamp(), p_user, p_emoji, v_count, false);
end $$;

-- Publishes to all members that somebody has added or removed a reaction, and how many have it now.
-- Locks: the log
create or replace function reaction_log(
    m messages, p_now timestamptz, p_user uuid, p_emoji text, p_count int, p_is_put boolean
) returns void
language plpgsql volatile as $$
declare
    v_pos bigint := log_begin() + 1;
begin
    insert into events (pos, at, type, thread_id, actor_id, body)
    values (v_pos, p_now, 'reaction.updated', m.thread_id, p_user, event_json('reaction.updated', m.thread_id, p_now,
        json_build_object('message_id', m.id, 'seq', m.seq, 'user_id', p_user, 'emoji', p_emoji, 'put', p_is_put,
            'count', p_count)::text));
    perform log_announce(v_pos);
end $$;

-- Returns: a page of the people who reacted to a message with an emoji, the latest first.
-- Costs: an index probe a person. Without sorting the plan uses the index by emoji.
create or replace function reaction_list(
    p_user uuid, p_thread uuid, p_message uuid, p_emoji text, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable
set enable_sort = off
as $$
declare
    v_message messages := message_of(member_joined(p_thread, p_user), p_message);
    v_after timestamptz := coalesce(timestamptz 'epoch' - p_after_rank * interval '1 ms', 'infinity');
begin
    return query
    select user_json(u)::text, -floor(extract(epoch from r.created_at) * 1000)::bigint, r.user_id
    from (select x.created_at, x.user_id from message_reactions x
        where x.thread_id = p_thread and x.seq = v_message.seq and x.emoji = p_emoji
            and x.created_at <= v_after and (x.created_at < v_after or x.user_id > p_after_id)
        order by x.created_at desc, x.user_id limit p_limit) r
    cross join lateral (select y.* from users y where y.id = r.user_id limit 1) u;
end $$;
