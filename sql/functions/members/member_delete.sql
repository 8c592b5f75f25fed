-- Leaving, removing, declining and withdrawing invitations. member_log.sql has the events.

-- Ends the membership of `p_user`: removed by another member, or left. A declined or withdrawn invitation becomes
-- `left`; `left_by_choice` records whether it was the person's own choice. When the last owner leaves, the admin who
-- joined first becomes owner; without admins, the member who joined first. In a group a system message names who left;
-- in a room there is none (as with member_put). `p_actor` is null for the host app's server, which no message names.
-- Fails: PY404 thread_not_found, member_not_found; PY403 not_joined, not_allowed; PY409 direct_members_fixed.
-- Locks: the thread, the members' rows, the member's count, then the log
create or replace function member_delete(p_actor uuid, p_thread uuid, p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_thread threads := member_lock(p_thread, p_actor);
    v_now timestamptz := stamp();
    v_old members := member_delete_check(v_thread, p_actor, p_user);
    v_new members;
    v_heir members;
    v_head bigint;
begin
    update members m set role = 'member',
        status = case when p_actor = p_user or v_old.status = 'invited' then 'left' else 'removed' end,
        -- A member who had left before the invitation has still left by choice when it is withdrawn.
        left_by_choice = coalesce(p_actor = p_user, false) or (v_old.status = 'invited' and m.left_by_choice is true)
    where m.thread_id = p_thread and m.user_id = p_user returning m.* into v_new;
    if v_old.status = 'joined' then
        update threads t set member_count = t.member_count - 1 where t.id = p_thread returning t.* into v_thread;
    end if;
    if v_old.role = 'owner' then
        v_heir := member_hand_on(p_thread);
    end if;
    perform thread_count_drop(p_user);
    perform undelivered_recheck(p_thread);
    v_head := log_begin();
    v_head := member_log(v_head, v_now, v_thread, v_new, case when v_old.status = 'joined' then 'ends' else 'none' end,
        p_actor);
    if v_heir.status is not null then
        v_head := member_log(v_head, v_now, v_thread, v_heir, 'none', null);
    end if;
    if v_old.status = 'joined' and v_thread.kind = 'group' then
        v_head := system_message(v_head, v_now, p_thread,
            member_news(case when p_actor is null then 'left' else v_new.status end, coalesce(p_actor, p_user), p_user));
    end if;
    perform log_announce(v_head);
end $$;

-- Returns: the thread, locked, for the server (null), or a user who has joined it or is invited. Other callers are refused
-- before they wait for the lock.
-- Fails: PY404 thread_not_found.
-- Locks: the thread
create or replace function member_lock(p_thread uuid, p_user uuid) returns threads
language plpgsql volatile as $$
begin
    if p_user is not null and (member_of(p_thread, p_user)).status is null then
        perform thread_refuse();
    end if;
    return thread_lock(p_thread);
end $$;

-- Returns: the row of the member to remove.
-- Fails: unless `p_actor` may remove them.
create or replace function member_delete_check(t threads, p_actor uuid, p_user uuid) returns members
language plpgsql stable as $$
declare
    v_actor members := member_of(t.id, p_actor);
    v_old members := member_of(t.id, p_user);
begin
    if p_actor is distinct from p_user then
        v_actor := member_joined(t.id, p_actor);
    elsif v_actor.status is null then
        perform thread_refuse();
    end if;
    if t.kind = 'direct' and (p_actor is distinct from p_user or v_old.status = 'joined') then
        perform refuse(409, 'direct_members_fixed', 'A direct thread cannot be left. Archive it instead.');
    end if;
    if v_old.status is null then
        perform refuse(404, 'member_not_found', 'The thread has no such member.');
    elsif p_actor <> p_user and not (v_actor.role = 'owner' or (v_actor.role = 'admin' and v_old.role = 'member')) then
        perform refuse(403, 'not_allowed', 'Owners may remove anyone, admins only members.');
    end if;
    return v_old;
end $$;

-- Appoints an owner in a thread that has none: the admin who joined first; without admins, the member who joined first.
-- A bot becomes owner only if the thread has no other members.
-- Returns: their row; nulls if there is an owner, or no member.
-- Costs: a few index probes; without an admin, it reads all members
create or replace function member_hand_on(p_thread uuid) returns members
language plpgsql volatile as $$
declare
    v_heir uuid;
    v_new members;
begin
    if exists (select from members m where m.thread_id = p_thread and m.role = 'owner' and m.status = 'joined') then
        return null;
    end if;
    v_heir := coalesce(
        (select h.user_id from members h where h.thread_id = p_thread and h.role = 'admin' and h.status = 'joined'
            and h.is_bot is null order by h.joined_at, h.user_id limit 1),
        (select h.user_id from members h where h.thread_id = p_thread and h.status = 'joined'
            order by h.is_bot nulls first, h.joined_at, h.user_id limit 1));
    update members m set role = 'owner' where m.thread_id = p_thread and m.user_id = v_heir returning m.* into v_new;
    return v_new;
end $$;
