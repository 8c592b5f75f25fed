-- Unread messages and mentions.

-- Returns: the messages of others after the mark, without deleted and hidden ones and the service's system messages; 0
-- for a bot. Seqs are dense and the member's own messages lie before the mark, so this is a difference minus the few
-- exceptions.
-- Costs: a few index probes, however many messages are unread
create or replace function unread_count(m members, p_read bigint, p_head bigint) returns bigint
language plpgsql stable as $$
declare
    v_read bigint := least(greatest(p_read, m.hidden_before_seq - 1), p_head);
begin
    if m.is_bot then
        return 0;
    end if;
    return p_head - v_read - (select count(*) from messages x
        where x.thread_id = m.thread_id and x.seq > v_read and (x.deleted_at is not null or (x.sender_id is null and x.counts is null)))
        -- After marking unread, some of the member's own messages are after the mark.
        - case when m.back_to_seq = p_read then (select count(*) from messages x
            where sender_key(x.sender_id, x.thread_id) = sender_key(m.user_id, m.thread_id) and x.seq::int > v_read::int
                and sender_is(x, m.user_id, m.thread_id) and x.deleted_at is null)
            else 0 end
        - case when m.hides then hidden_count(m.thread_id, m.user_id, v_read) else 0 end;
end $$;

-- Returns: of the messages after the mark that the user deleted for themselves, how many would count as unread. A
-- separate function: inside unread_count, members who hide nothing would pay for it too.
create or replace function hidden_count(p_thread uuid, p_user uuid, p_read bigint) returns bigint
language plpgsql stable as $$
begin
    return (select count(*) from message_hides h
        where h.thread_id = p_thread and h.user_id = p_user and h.seq > p_read
            and (select m.deleted_at is null and coalesce(m.sender_id <> p_user, m.counts) from messages m
                where m.thread_id = p_thread and m.seq between h.seq and h.seq order by m.seq limit 1));
end $$;

-- Returns: the unread messages of others that mention the user; 0 for a bot.
create or replace function mention_count(m members, p_read bigint) returns bigint
language plpgsql stable as $$
declare
    v_read bigint := greatest(p_read, m.hidden_before_seq - 1);
begin
    if m.is_bot then
        return 0;
    end if;
    return (select count(*) from messages x where x.thread_id = m.thread_id and x.seq > v_read and x.mentions <> '{}'
        and x.deleted_at is null and m.user_id = any (x.mentions) and x.sender_id is distinct from m.user_id
        and not (m.hides and message_is_hidden(m.thread_id, m.user_id, x.seq)));
end $$;

-- Returns: for each user, how many messages are unread in all their threads together, as the inbox counts them; null
-- for no threads.
-- Costs: as user_threads
create or replace function unread_totals(p_users uuid[]) returns table (user_id uuid, total bigint)
language plpgsql stable
set enable_hashjoin = off set enable_memoize = off set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    select u.id, (select sum(t.unread)::bigint from user_threads(u.id) t) from unnest(p_users) u (id);
end $$;
