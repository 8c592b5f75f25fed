-- Locking a thread, and refusing callers.

-- Returns: the thread, locked against new messages and changes of members. The lock writes no new row version.
-- Fails: PY404 thread_not_found.
-- Locks: the thread
create or replace function thread_lock(p_thread uuid) returns threads
language plpgsql volatile as $$
declare
    v_thread threads;
begin
    select * into v_thread from threads t where t.id = p_thread for no key update;
    if not found then
        perform thread_refuse();
    end if;
    return v_thread;
end $$;

-- The same for a member. Other callers are refused before they wait for the lock. Check the membership again under the
-- lock: it may have ended meanwhile.
-- Fails: PY404 thread_not_found, PY403 not_joined.
-- Locks: the thread
create or replace function thread_lock_joined(p_thread uuid, p_user uuid) returns threads
language plpgsql volatile as $$
begin
    perform member_joined(p_thread, p_user);
    return thread_lock(p_thread);
end $$;

-- Fails: PY404 thread_not_found, always: for callers who are not members, whether the thread exists or not.
create or replace function thread_refuse() returns void
language sql stable as $$
    select refuse(404, 'thread_not_found', 'There is no such thread, or you are not a member.')
$$;
