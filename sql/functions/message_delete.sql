-- Withdraws a message for everyone: its row becomes a tombstone, and what the log holds of its content goes with it.
-- Deleting it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined, not_allowed (neither sender nor owner nor admin).
-- locks: the thread, the message's row, the search index's state, then the log
create or replace function message_delete(p_user uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_member members;
    v_message messages;
    v_head bigint;
begin
    perform thread_lock(p_thread);
    v_member := member_joined(p_thread, p_user);
    select * into v_message from messages m where m.thread_id = p_thread and m.id = p_message for no key update;
    if not found then
        perform message_refuse();
    elsif v_message.sender_id is distinct from p_user and v_member.role = 'member' then
        raise exception using errcode = 'PY403', message = 'not_allowed',
            detail = 'Only its sender, an owner or an admin may delete a message for everyone.';
    elsif v_message.deleted_at is not null then
        return;
    end if;
    perform search_forget(v_message);
    update messages m set payload = null, mentions = '{}', deleted_at = v_now
    where m.thread_id = p_thread and m.seq = v_message.seq
    returning m.* into v_message;
    update events e set body = event_json('message.created', p_thread, v_message.created_at, message_view(v_message))
    where e.pos = v_message.pos;

    v_head := log_begin();
    insert into events (pos, at, type, thread_id, withdraws, body)
    values (v_head + 1, v_now, 'message.deleted', p_thread, v_message.pos,
        event_json('message.deleted', p_thread, v_now, message_view(v_message)));
    perform log_announce(v_head + 1);
end $$;
