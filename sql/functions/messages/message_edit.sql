-- Editing messages. Earlier versions are kept, for members, administrators and the export.

-- Gives the message a new payload, which must be one of its type (message_type). Others see that it was edited, and
-- when. The same payload changes nothing. Of the earlier versions, the first one and the last hundred are kept. The
-- log keeps its events: a client that catches up sees the message change, as it would have at the time. `p_attachments`
-- are those of the new payload. What a legal hold covers is kept first.
-- Returns: the message as JSON text.
-- Fails: as message_type, attachment_edit; PY403 not_reachable (the other person of a direct thread has blocked the
-- sender).
-- Locks: the thread, the holds (hold_enter), the attachments by id, then the log
create or replace function message_edit(
    p_user uuid, p_thread uuid, p_message uuid, p_payload json, p_attachments uuid[] default '{}') returns text
language plpgsql volatile as $$
declare
    v_now timestamptz;
    v_message messages;
    v_before json;
    v_is_held boolean;
    v_version int;
    v_pos bigint;
    v_body text;
begin
    perform thread_lock_joined(p_thread, p_user);
    v_now := stamp();
    v_message := message_own(p_user, p_thread, p_message);
    if (member_of(p_thread, p_user)).blocked then
        perform block_refuse();
    end if;
    v_is_held := hold_enter() and hold_covers(p_thread, v_message.sender_id);
    if p_attachments <> '{}' then
        p_payload := attachment_edit(v_message, p_attachments, p_payload);
    end if;
    if v_message.payload::text = p_payload::text then
        return message_view(v_message);
    end if;
    v_version := coalesce((select e.version + 1 from message_edits e
        where e.thread_id = p_thread and e.seq = v_message.seq order by e.version desc limit 1), 0);
    if v_is_held then
        perform hold_keep_edit(v_message, v_version, v_version - 100, v_now);
    end if;
    update message_edits e set payload = null
    where e.thread_id = p_thread and e.seq = v_message.seq and e.version = v_version - 100 and e.version > 0;

    v_before := v_message.payload;
    perform search_remove(v_message);
    update messages m set payload = p_payload, edited_at = v_now
    where m.thread_id = p_thread and m.seq = v_message.seq and m.id = v_message.id
    returning m.* into v_message;
    perform search_add(v_message);
    perform attachment_use_edit(v_message, p_attachments);
    v_body := message_view(v_message);

    v_pos := log_begin() + 1;
    insert into message_edits (thread_id, seq, version, payload, replaced_at, pos)
    values (p_thread, v_message.seq, v_version, v_before, v_now, v_pos);
    insert into events (pos, at, type, thread_id, actor_id, body, until_delivered)
    values (v_pos, v_now, 'message.updated', p_thread, p_user, event_json('message.updated', p_thread, v_now, v_body),
        v_message.until_delivered);
    if v_message.until_delivered then
        -- The content now waits for devices that lack this version.
        delete from undelivered u where u.thread_id = p_thread and u.seq = v_message.seq;
        delete from undelivered_files f where f.thread_id = p_thread and f.seq = v_message.seq;
        insert into undelivered (thread_id, pos, seq, at) values (p_thread, v_pos, v_message.seq, v_now);
    end if;
    perform log_announce(v_pos);
    return v_body;
end $$;

-- Returns: the type of a message that the caller may edit; the new payload is checked by it. A message's type never
-- changes.
-- Fails: as message_own.
create or replace function message_type(p_user uuid, p_thread uuid, p_message uuid) returns text
language plpgsql stable as $$
begin
    return (message_own(p_user, p_thread, p_message)).type;
end $$;

-- Returns: a message that the caller sent; for the host app's server (null) any message.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined, not_allowed (another user sent it); PY409
-- message_deleted.
create or replace function message_own(p_user uuid, p_thread uuid, p_message uuid) returns messages
language plpgsql stable as $$
declare
    v_message messages := message_of(member_joined(p_thread, p_user), p_message);
begin
    if p_user is not null and v_message.sender_id is distinct from p_user then
        perform refuse(403, 'not_allowed', 'Only its sender may edit a message.');
    elsif v_message.sender_id is null and v_message.counts is null then
        perform refuse(403, 'not_allowed', 'The service''s own messages cannot be edited.');
    elsif v_message.payload is null then
        perform refuse(409, 'message_deleted', 'This message was deleted.');
    end if;
    return v_message;
end $$;

-- Returns: a page of a message's earlier versions, the latest first, for those who may read the message. They are gone
-- with its content; versions that were dropped to make room are left out.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
create or replace function message_edit_list(
    p_user uuid, p_thread uuid, p_message uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
declare
    v_message messages := message_of(member_joined(p_thread, p_user), p_message);
    v_before int := coalesce(least(-p_after_rank, 2147483647), 2147483647);
begin
    if v_message.payload is null then
        return;
    end if;
    return query
    select '{"payload":' || e.payload::text || ',"written_at":"' || rfc3339(coalesce((select b.replaced_at
            from message_edits b where b.thread_id = p_thread and b.seq = v_message.seq
                and b.version between e.version - 1 and e.version - 1 order by b.version limit 1), v_message.created_at)) || '"}',
        -e.version::bigint, v_message.id
    from message_edits e
    where e.thread_id = p_thread and e.seq = v_message.seq and e.version < v_before and e.payload is not null
    order by e.version desc limit p_limit;
end $$;
