-- Reading messages, from the first one on that the caller has not cleared. These functions fail with PY404
-- thread_not_found and PY403 not_joined for callers who are not members, and change nothing.

-- Returns: a message as JSON text, with its sender's present name. With `p_user` it says which reactions are that
-- user's; without, as in what everyone gets, it does not.
create or replace function message_view(m messages, p_user uuid default null) returns text
language sql stable as $$
    select message_json(m.thread_id, m.seq, m.id, m.sender_id, (select u.name from users u where u.id = m.sender_id),
        (select u.profile_image from users u where u.id = m.sender_id), m.type, m.payload, m.reply_to, m.mentions,
        m.created_at, m.edited_at, m.deleted_at, m.expires_at,
        case when m.reacted then reactions_json(m.thread_id, m.seq, p_user) end)
$$;

-- Returns: the message with that id, all null if there is none. Compares the thread with what no index can serve, so that
-- the index by id is used whatever the statistics say. Seqs are looked up by `between`, ordered by seq, for the same
-- reason. A change names both, so that any index will do. All functions that read or change messages turn sequential scans off: while the table is
-- empty they seem to cost nothing, and the plan made then is kept.
create or replace function message_find(p_thread uuid, p_message uuid) returns messages
language plpgsql stable as $$
declare
    v_message messages;
begin
    select * into v_message from messages m
    where uuid_hash(m.thread_id) = uuid_hash(p_thread) and m.id = p_message and (m.thread_id = p_thread) is true;
    return v_message;
end $$;

-- Returns: the message for a member, who does not see messages that they cleared or deleted for themselves.
-- Fails: PY404 message_not_found.
create or replace function message_of(m members, p_message uuid) returns messages
language plpgsql stable as $$
declare
    v_message messages := message_find(m.thread_id, p_message);
begin
    if v_message.seq is null or v_message.seq < m.hidden_before_seq
        or (m.hides and message_is_hidden(m.thread_id, m.user_id, v_message.seq)) then
        perform message_refuse();
    end if;
    return v_message;
end $$;

-- Returns: the message as JSON text.
-- Fails: PY404 message_not_found.
create or replace function message_get(p_user uuid, p_thread uuid, p_message uuid) returns text
language plpgsql stable as $$
declare
    v_member members := member_joined(p_thread, p_user);
begin
    return message_view(message_of(v_member, p_message), p_user);
end $$;

-- Fails: PY404 message_not_found, always.
create or replace function message_refuse() returns void
language sql stable as $$
    select refuse(404, 'message_not_found', 'The thread has no such message.')
$$;
