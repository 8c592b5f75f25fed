-- Marking a thread unread.

-- Moves the caller's own read mark back to before `p_from`, and notifies their devices. The mark that others see
-- stays. A seq that is not read yet, and a bot, change nothing.
-- Fails: PY404 thread_not_found, PY403 not_joined, PY422 (from: the thread has no such message).
-- Locks: the member's row, then the log
create or replace function unread_put(p_user uuid, p_thread uuid, p_from bigint) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_member members;
    v_marks record;
begin
    perform from members m where m.thread_id = p_thread and m.user_id = p_user for no key update;
    v_member := member_joined(p_thread, p_user);
    if p_from not between 1 and thread_head(p_thread) then
        perform refuse(422, 'invalid', 'Must not be above the thread''s last seq.', 'from');
    end if;
    select * into v_marks from member_marks(v_member);
    if p_from > v_marks.own_seq or v_member.is_bot then
        return;
    end if;
    update members m set back_to_seq = p_from - 1, back_from_seq = v_marks.read_seq
    where m.thread_id = p_thread and m.user_id = p_user returning m.* into v_member;
    perform receipt_announce(v_now, array[v_member], array[false], array[true]);
end $$;
