-- What an archive has of each table. All functions have the same filters; null is no filter:
--   p_user            the account, its threads with their members, and the messages that it sent
--   p_thread          the thread, its members, and all in it
--   p_since, p_until  of messages: created at `p_since` or later, and before `p_until`
-- They are inlined in the statements of archive_open, which are planned for the given filters.

create or replace function archive_threads(p_user uuid, p_thread uuid) returns setof threads
language sql stable as $$
    select t from threads t
    where (p_thread is null or t.id = p_thread)
        and (p_user is null or exists (select from members m where m.thread_id = t.id and m.user_id = p_user))
$$;

create or replace function archive_messages(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns setof messages
language sql stable as $$
    select m from archive_threads(p_user, p_thread) t join messages m on m.thread_id = t.id
    where (p_user is null or m.sender_id = p_user)
        and (p_since is null or m.created_at >= p_since) and (p_until is null or m.created_at < p_until)
$$;

-- Returns: the ids of all accounts that the archive names.
create or replace function archive_users(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid)
language sql stable as $$
    select u.id from users u where p_user is null and p_thread is null
    union select p_user where p_user is not null
    union select n.id from archive_threads(p_user, p_thread) t join members m on m.thread_id = t.id
        cross join lateral (values (m.user_id), (m.invited_by)) n (id)
        where (p_user is not null or p_thread is not null) and n.id is not null
    union select n.id from archive_messages(p_user, p_thread, p_since, p_until) m
        cross join lateral unnest(m.mentions || m.sender_id) n (id)
        where (p_user is not null or p_thread is not null) and n.id is not null
    union select r.user_id from archive_messages(p_user, p_thread, p_since, p_until) m
        join message_reactions r on r.thread_id = m.thread_id and r.seq = m.seq
        where m.reacted and (p_user is not null or p_thread is not null)
    union select b.blocked_id from blocks b where b.user_id = p_user
$$;

-- Returns: the ready attachments that messages, threads and accounts of the archive use.
create or replace function archive_attachments(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns setof attachments
language sql stable as $$
    select a from attachments a
    where a.state = 2 and exists (select from attachment_uses u where u.attachment_id = a.id and case u.kind
        when 'message' then exists (select from archive_messages(p_user, p_thread, p_since, p_until) m
            where m.thread_id = u.holder_id and m.seq = u.seq)
        when 'thread' then exists (select from archive_threads(p_user, p_thread) t where t.id = u.holder_id)
        else u.holder_id in (select n.id from archive_users(p_user, p_thread, p_since, p_until) n) end)
$$;

-- Returns: what a message replies to, null if the archive does not have it.
create or replace function archive_reply_to(
    m messages, p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz) returns uuid
language plpgsql stable as $$
begin
    if m.reply_to is null or (p_user is null and p_since is null and p_until is null) then
        return m.reply_to;
    end if;
    return (select x.id from message_find(m.thread_id, m.reply_to) x
        where (p_user is null or x.sender_id = p_user)
            and (p_since is null or x.created_at >= p_since) and (p_until is null or x.created_at < p_until));
end $$;
