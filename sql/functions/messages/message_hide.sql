-- Deleting messages for one member alone.

-- Deletes a message for the caller alone, on all their devices: from their history, their last message and their
-- counts. Only those devices are notified. Deleting it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
-- Locks: the member's row, then the log
create or replace function message_hide(p_user uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_member members;
    v_message messages;
    v_head bigint;
    v_read bigint;
begin
    perform from members m where m.thread_id = p_thread and m.user_id = p_user for no key update;
    v_member := member_joined(p_thread, p_user);
    v_message := message_find(p_thread, p_message);
    if v_message.seq is null then
        perform message_refuse();
    end if;
    insert into message_hides (thread_id, user_id, seq) values (p_thread, p_user, v_message.seq) on conflict do nothing;
    if not found then
        return;
    end if;
    update members m set hides = true where m.thread_id = p_thread and m.user_id = p_user and not m.hides;
    v_member.hides := true;

    -- Count after locking the log: the counts are those of this event's place in the log.
    v_head := log_begin();
    select r.own_seq into v_read from member_marks(v_member) r;
    insert into events (pos, at, type, thread_id, user_id, seq, actor_id, body)
    values (v_head + 1, v_now, 'message.deleted', p_thread, p_user, v_message.seq, p_user,
        event_json('message.deleted', p_thread, v_now, json_build_object('id', v_message.id, 'thread_id', p_thread,
            'seq', v_message.seq, 'for', 'me', 'unread_count', unread_count(v_member, v_read, thread_head(p_thread)),
            'mention_count', mention_count(v_member, v_read))::text));
    perform log_announce(v_head + 1);
end $$;

-- Returns: whether the user has deleted the message for themselves. Only true for members that `hides`.
create or replace function message_is_hidden(p_thread uuid, p_user uuid, p_seq bigint) returns boolean
language plpgsql stable as $$
begin
    return exists (select from message_hides h where h.thread_id = p_thread and h.user_id = p_user and h.seq = p_seq);
end $$;
