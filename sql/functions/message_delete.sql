-- Withdraws a message for everyone: its row becomes a tombstone, and what it said before edits, its reactions and what the
-- log holds of its content go with it. Deleting it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined, not_allowed (neither sender nor owner nor admin; in a
-- direct thread, where both are equals whoever opened it: not the sender).
-- locks: the thread, then the log
create or replace function message_delete(p_user uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_now timestamptz := stamp();
    v_thread threads := thread_lock_joined(p_thread, p_user);
    v_member members := member_joined(p_thread, p_user);
    v_message messages;
begin
    v_message := message_find(p_thread, p_message);
    if v_message.seq is null then
        perform message_refuse();
    elsif v_message.sender_id is distinct from p_user and (v_member.role = 'member' or v_thread.kind = 'direct') then
        raise exception using errcode = 'PY403', message = 'not_allowed',
            detail = case v_thread.kind when 'direct' then 'Only its sender may delete a message for everyone.'
                else 'Only its sender, an owner or an admin may delete a message for everyone.' end;
    elsif v_message.deleted_at is not null then
        return;
    end if;
    perform message_bury(array[v_message], v_now);
end $$;

-- Deletes a message for the caller alone, on all their devices: it leaves their history, their last message and their
-- counts, which only those devices are told. Deleting it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
-- locks: the member's row, then the log
create or replace function message_hide(p_user uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile
set enable_seqscan = off
as $$
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

    -- Counted once nobody else can write: this event's counts are those of its place in the log.
    v_head := log_begin();
    select r.own_seq into v_read from member_marks(v_member) r;
    insert into events (pos, at, type, thread_id, user_id, body)
    values (v_head + 1, v_now, 'message.deleted', p_thread, p_user,
        event_json('message.deleted', p_thread, v_now, json_build_object('id', v_message.id, 'thread_id', p_thread,
            'seq', v_message.seq, 'for', 'me', 'unread_count', unread_count(v_member, v_read, thread_head(p_thread)),
            'mention_count', mention_count(v_member, v_read))::text));
    perform log_announce(v_head + 1);
end $$;
