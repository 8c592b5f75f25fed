-- Withdraws a message for everyone. Its row becomes a tombstone; its earlier versions, its reactions and its content
-- in the log are deleted. Deleting it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined, not_allowed (the caller is neither sender nor
-- owner nor admin; in a direct thread, whose people are equals: not the sender).
-- Locks: the thread, then the log
create or replace function message_delete(p_user uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile as $$
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
        perform refuse(403, 'not_allowed',
            case v_thread.kind when 'direct' then 'Only its sender may delete a message for everyone.'
                else 'Only its sender, an owner or an admin may delete a message for everyone.' end);
    elsif v_message.deleted_at is not null then
        return;
    end if;
    perform message_tombstone(array[v_message], v_now, p_user);
end $$;
