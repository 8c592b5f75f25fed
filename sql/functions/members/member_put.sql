-- Adding, inviting, accepting and promoting. member_log.sql has the events.

-- Fails: unless `p_actor` may do what member_put is asked for. `p_old` is the member's row so far, or nulls.
-- docs/access.md has the rules as a table. The host app's server (null) may do what an owner may; and people who left by
-- their own choice, or declined, may be added by it. Blocks bind it in direct threads.
create or replace function member_put_check(
    t threads, p_actor uuid, p_user uuid, p_old members, p_role text, p_status text
) returns void
language plpgsql stable as $$
declare
    v_actor members := member_of(t.id, p_actor);
begin
    if p_actor is distinct from p_user then
        v_actor := member_joined(t.id, p_actor);
    elsif v_actor.status is null then
        -- A room is open to all but removed people. A person who declined a direct thread may join it later.
        if p_status is distinct from 'joined' or t.kind = 'group' or p_old.status = 'removed'
            or (t.kind = 'direct' and p_old.status is null) then
            perform thread_refuse();
        end if;
    elsif v_actor.status = 'invited' and p_status is distinct from 'joined' then
        perform refuse(403, 'not_joined', 'Accept the invitation to this thread first.');
    end if;
    if t.kind = 'direct' and (p_old.status is null or p_role <> p_old.role
        or (p_actor <> p_user and p_old.status = 'left' and p_status = 'joined')) then
        perform refuse(409, 'direct_members_fixed',
            'A direct thread always has the same two members. A user who declined can be invited again.');
    end if;
    if p_old.status <> 'joined' and ((p_old.blocked and (p_actor = p_user or p_actor is null))
        or (p_old.blocks and p_actor is null)) then
        perform block_refuse();
    end if;
    if p_role <> coalesce(p_old.role, 'member') and v_actor.role is distinct from 'owner' then
        perform refuse(403, 'not_allowed', 'Only an owner may change a role.');
    end if;
    if p_actor <> p_user and v_actor.role = 'member' and t.kind <> 'direct' then
        perform refuse(403, 'not_allowed', 'Only owners and admins may do this.');
    end if;
    perform user_require(p_user);
    if p_actor <> p_user and p_status is distinct from 'invited' and t.kind <> 'direct' and p_old.status in ('left', 'removed')
        and coalesce(p_old.left_by_choice, p_old.status = 'left') then
        perform refuse(403, 'member_left', 'This user left the thread. Invite them instead: {"status": "invited"}.');
    end if;
    if p_actor = p_user and p_old.role = 'owner' and p_role <> 'owner' and not exists (select from members m
        where m.thread_id = t.id and m.role = 'owner' and m.status = 'joined' and m.user_id <> p_user) then
        perform refuse(409, 'last_owner', 'A thread needs an owner. Make another member owner first.');
    end if;
end $$;

-- Returns: the thread, locked, if member_put_check allows the change by what is known without the lock: a caller who
-- may not change the members does not wait for the lock. Check again under the lock.
-- Fails: PY404 thread_not_found; as member_put_check.
-- Locks: the thread
create or replace function member_put_lock(p_actor uuid, p_thread uuid, p_user uuid, p_role text, p_status text)
returns threads
language plpgsql volatile as $$
declare
    v_thread threads;
    v_old members;
begin
    select * into v_thread from threads t where t.id = p_thread;
    select * into v_old from members m where m.thread_id = p_thread and m.user_id = p_user;
    perform member_put_check(v_thread, p_actor, p_user, v_old, p_role, p_status);
    return thread_lock(p_thread);
end $$;

-- Returns: the row as it is after member_put; equal to `p_old` if there is nothing to change.
create or replace function member_put_wanted(
    t threads, p_actor uuid, p_user uuid, p_old members, p_role text, p_status text, p_now timestamptz
) returns members
language plpgsql stable as $$
declare
    v_new members := p_old;
begin
    v_new.thread_id := t.id;
    v_new.user_id := p_user;
    v_new.role := coalesce(p_role, p_old.role, 'member');
    if p_old.status is null or p_old.status in ('left', 'removed') then
        -- Nobody else can put a person back into a direct thread that they declined.
        v_new.status := coalesce(p_status,
            case when t.kind = 'direct' and p_actor <> p_user then 'invited' else 'joined' end);
    elsif p_old.status = 'invited' and (p_actor = p_user or (p_actor is null and p_status = 'joined')) then
        -- Only the invited person and the server accept an invitation; a joined member stays joined.
        v_new.status := coalesce(p_status, 'joined');
    end if;
    if v_new.status = 'invited' and p_old.status is distinct from 'invited' then
        v_new.invited_at := p_now;
        v_new.invited_by := p_actor;
    elsif v_new.status = 'joined' and p_old.status is distinct from 'joined' then
        v_new.joined_at := p_now;
        -- A new member has nothing unread; but in a direct thread all messages were for them.
        if t.kind <> 'direct' then
            v_new.read_seq := greatest(p_old.read_seq, thread_head(t.id));
            v_new.read_at := p_now;
        end if;
        -- A person who joins a thread that all have left becomes its owner. The server says itself who is owner.
        v_new.role := case when t.member_count = 0 and p_actor is not null then 'owner' else v_new.role end;
    end if;
    return v_new;
end $$;

-- Fails: PY422 when the thread has no place for one more. Invitations count as members.
create or replace function thread_refuse_full(t threads, p_old members, p_new members, p_group_max int, p_room_max int)
returns void
language plpgsql stable as $$
declare
    v_max int := case t.kind when 'room' then p_room_max else p_group_max end;
    v_count int := t.member_count;
begin
    if t.kind = 'direct' then
        return;
    elsif p_new.status = 'invited' and p_old.status is distinct from 'invited' then
        v_count := v_count + (select count(*) from (select from members m
            where m.thread_id = t.id and m.status = 'invited' limit v_max) i);
    elsif p_new.status <> 'joined' or p_old.status = 'joined' then
        return;
    end if;
    if v_count >= v_max then
        perform refuse(422, 'invalid', format('The thread has as many members as allowed (%s).', v_max), 'members');
    end if;
end $$;

-- Makes `p_user` joined or invited, or changes their role. `p_role` and `p_status` may be null: unchanged, or member
-- and joined for a new member. In a group a system message names who joined or was added. Not in a room: people join
-- and leave rooms by the thousand, and such messages would hide the conversation. The last arguments are those of
-- thread_create.
-- `p_actor` is null for the host app's server.
-- Returns: the member as JSON.
-- Fails: PY404 thread_not_found, user_not_found; PY403 not_joined, not_allowed, not_reachable, member_left (they left
-- by their own choice, and can be invited); PY409 direct_members_fixed, last_owner; PY422 (thread is full:
-- `p_group_max` for groups, `p_room_max` for rooms); PY422 too_many_threads; PY429 rate_limited.
-- Locks: the thread, the member's row, the actor's limit, the member's count, then the log
-- Costs: the same for any number of members
create or replace function member_put(
    p_actor uuid, p_thread uuid, p_user uuid, p_role text, p_status text, p_group_max int, p_room_max int,
    p_threads_max int default null, p_strangers_are_invited boolean default false,
    p_keys bytea[] default null, p_steps_ms int[] default null, p_windows_ms int[] default null
) returns text
language plpgsql volatile as $$
declare
    v_thread threads := member_put_lock(p_actor, p_thread, p_user, p_role, p_status);
    v_now timestamptz := stamp();
    v_old members;
    v_new members;
    v_is_stranger boolean := false;
    v_effect text := 'none';
begin
    -- Locked, because the whole row is written: a simultaneous receipt would be lost.
    select * into v_old from members m where m.thread_id = p_thread and m.user_id = p_user for no key update;
    perform member_put_check(v_thread, p_actor, p_user, v_old, p_role, p_status);
    if p_actor <> p_user and (p_keys <> '{}' or p_strangers_are_invited)
        and (v_old.status is null or v_old.status in ('left', 'removed')) then
        v_is_stranger := strangers(p_actor, array[p_user]) <> '{}';
    end if;
    v_new := member_put_wanted(v_thread, p_actor, p_user, v_old, p_role,
        case when v_is_stranger and p_strangers_are_invited then 'invited' else p_status end, v_now);
    if (v_new.role, v_new.status) is not distinct from (v_old.role, v_old.status) then
        return member_view(v_old, true);
    end if;
    perform thread_refuse_full(v_thread, v_old, v_new, p_group_max, p_room_max);
    perform rate_limit_spend(2, v_is_stranger::int, p_keys, p_steps_ms, p_windows_ms);
    if v_old.status is null or v_old.status in ('left', 'removed') then
        perform thread_count_add(p_actor, array[p_user], p_threads_max);
    end if;
    if v_new.status is distinct from v_old.status then
        v_effect := case v_new.status when 'joined' then 'begins' else 'invites' end;
    end if;
    return member_view(member_write(v_thread, v_now, v_new, v_effect, p_actor), true);
end $$;

-- Writes a member who joins (`p_effect` begins), is invited (invites) or has another role (none), and the events about
-- it. In a group a system message says who joined, or was added. `p_actor` is null for another program.
-- Returns: the member.
-- Fails: as block_check and account_check.
-- Locks: the member's row, then the log; the caller holds the thread
create or replace function member_write(
    t threads, p_now timestamptz, p_member members, p_effect text, p_actor uuid) returns members
language plpgsql volatile as $$
declare
    v_user uuid := p_member.user_id;
    v_head bigint;
begin
    if p_effect = 'begins' then
        update threads x set member_count = x.member_count + 1 where x.id = t.id returning x.* into t;
    end if;
    insert into members as m (thread_id, user_id, role, status, joined_at, read_seq, read_at, invited_at, invited_by, is_bot)
    values (t.id, v_user, p_member.role, p_member.status, p_member.joined_at, coalesce(p_member.read_seq, 0),
        p_member.read_at, p_member.invited_at, p_member.invited_by, (select u.is_bot from users u where u.id = v_user))
    on conflict (thread_id, user_id) do update set role = excluded.role, status = excluded.status,
        joined_at = excluded.joined_at, read_seq = excluded.read_seq, read_at = excluded.read_at,
        invited_at = excluded.invited_at, invited_by = excluded.invited_by,
        -- Outlives an invitation: inviting, withdrawing and adding must not get round it.
        left_by_choice = case when excluded.status <> 'joined' then coalesce(m.left_by_choice, m.status = 'left') end
    returning m.* into p_member;

    v_head := log_begin();
    if p_effect <> 'none' then
        perform block_check(p_actor, array[v_user]);
        perform account_check(array[coalesce(p_actor, v_user), v_user]);
    end if;
    v_head := member_log(v_head, p_now, t, p_member, p_effect, p_actor);
    if p_effect = 'begins' and t.kind = 'group' then
        v_head := system_message(v_head, p_now, t.id,
            member_news(case when p_actor <> v_user then 'added' else 'joined' end, coalesce(p_actor, v_user), v_user));
    end if;
    perform log_announce(v_head);
    return p_member;
end $$;
