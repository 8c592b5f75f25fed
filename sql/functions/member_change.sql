-- Who is in a thread: joining, inviting, promoting, leaving, removing. All take the thread's lock, so that no message
-- is appended between the check of a membership and its change.

-- Tells of a member's new state, and notes in the spans what begins or ends with it. Call it with the log's lock held;
-- gives the last position written. In threads of more than 100 only the person concerned and those who run it hear.
--   p_effect   begins | ends | none
create or replace function member_log(p_head bigint, p_now timestamptz, t threads, m members, p_effect text) returns bigint
language plpgsql volatile as $$
declare
    v_pos bigint := p_head;
    v_body text;
begin
    if m.status = 'invited' or p_effect = 'begins' then
        v_pos := v_pos + 1;
        insert into events (pos, at, type, thread_id, user_id, body)
        values (v_pos, p_now, 'thread.created', t.id, m.user_id,
            event_json('thread.created', t.id, p_now, thread_created_data(t)));
    end if;
    v_pos := v_pos + 1;
    v_body := event_json('member.updated', t.id, p_now, member_view(m)::text);
    insert into events (pos, at, type, thread_id, user_id, begins, ends, body)
    values (v_pos, p_now, 'member.updated', t.id, case when t.member_count > 100 then m.user_id end,
        case when p_effect = 'begins' then array[m.user_id] end, case when p_effect = 'ends' then array[m.user_id] end, v_body);
    if p_effect = 'begins' then
        insert into membership_spans (user_id, thread_id, from_pos) values (m.user_id, t.id, v_pos);
    elsif p_effect = 'ends' then
        update membership_spans s set to_pos = v_pos
        where s.user_id = m.user_id and s.thread_id = t.id and s.to_pos is null;
    end if;
    -- Somebody outside the audience who must hear all the same: the invited, and whoever runs a large thread.
    if t.member_count <= 100 and m.status in ('invited', 'removed', 'left') and p_effect = 'none' then
        v_pos := v_pos + 1;
        insert into events (pos, at, type, thread_id, user_id, body)
        values (v_pos, p_now, 'member.updated', t.id, m.user_id, v_body);
    elsif t.member_count > 100 then
        insert into events (pos, at, type, thread_id, user_id, body)
        select v_pos + row_number() over (order by o.user_id), p_now, 'member.updated', t.id, o.user_id, v_body
        from members o
        where o.thread_id = t.id and o.role in ('owner', 'admin') and o.status = 'joined' and o.user_id <> m.user_id;
        v_pos := log_head();
    end if;
    return v_pos;
end $$;

-- Makes `p_user` joined or invited, or changes their role. `p_role` and `p_status` may be null: unchanged, or member
-- and joined for somebody new. Gives the member as JSON.
-- Fails: PY404 thread_not_found, user_not_found; PY403 not_joined, not_allowed; PY409 direct_members_fixed;
--        PY422 (thread is full: `p_group_max` for groups, `p_room_max` for rooms).
-- locks: the thread, the member's row, then the log
create or replace function member_put(
    p_actor uuid, p_thread uuid, p_user uuid, p_role text, p_status text, p_group_max int, p_room_max int
) returns text
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread threads := thread_lock(p_thread);
    v_actor members;
    v_old members;
    v_new members;
    v_joins boolean;
begin
    v_actor := member_of(p_thread, p_actor);
    select * into v_old from members m where m.thread_id = p_thread and m.user_id = p_user;
    if p_actor = p_user then
        if v_actor.status is null and (v_thread.kind <> 'room' or v_old.status = 'removed') then
            perform thread_refuse();
        elsif p_status is distinct from 'joined' and v_actor.status is distinct from 'joined' then
            perform thread_refuse_invited();
        end if;
    else
        v_actor := member_joined(p_thread, p_actor);
    end if;
    if v_thread.kind = 'direct' and (v_old.status is null or p_role is distinct from coalesce(v_old.role, p_role)) then
        raise exception using errcode = 'PY409', message = 'direct_members_fixed',
            detail = 'A direct thread has its two people and no others.';
    end if;
    if p_role is not null and p_role is distinct from v_old.role and v_actor.role is distinct from 'owner' then
        raise exception using errcode = 'PY403', message = 'not_allowed', detail = 'Only an owner may change a role.';
    end if;
    if p_actor <> p_user and v_actor.role = 'member' then
        raise exception using errcode = 'PY403', message = 'not_allowed', detail = 'Only owners and admins may do this.';
    end if;
    if not exists (select from users u where u.id = p_user) then
        raise exception using errcode = 'PY404', message = 'user_not_found', detail = 'There is no such user.';
    end if;

    v_new := v_old;
    v_new.thread_id := p_thread;
    v_new.user_id := p_user;
    if v_old.status is null or v_old.status in ('left', 'removed') then
        v_new.role := coalesce(p_role, 'member');
        v_new.status := coalesce(p_status, 'joined');
    else
        v_new.role := coalesce(p_role, v_old.role);
        -- An invitation is accepted by the invited alone; whoever has joined stays so.
        if v_old.status = 'invited' and p_actor = p_user then
            v_new.status := coalesce(p_status, 'joined');
        end if;
    end if;
    if (v_new.role, v_new.status) is not distinct from (v_old.role, v_old.status) then
        return member_view(v_old);
    end if;
    v_joins := v_new.status = 'joined' and v_old.status is distinct from 'joined';
    if v_joins and v_thread.member_count >= (case v_thread.kind when 'room' then p_room_max else p_group_max end) then
        raise exception using errcode = 'PY422', message = 'invalid', hint = 'members', detail = 'The thread is full.';
    end if;
    if v_joins then
        -- What was there before isn't unread to somebody who comes new.
        v_new.joined_at := v_now;
        v_new.read_seq := greatest(coalesce(v_old.read_seq, 0), thread_head(p_thread));
        v_new.read_at := v_now;
        update threads t set member_count = t.member_count + 1 where t.id = p_thread returning t.* into v_thread;
    end if;
    insert into members as m (thread_id, user_id, role, status, joined_at, read_seq, read_at)
    values (p_thread, p_user, v_new.role, v_new.status, v_new.joined_at, coalesce(v_new.read_seq, 0), v_new.read_at)
    on conflict (thread_id, user_id) do update set role = excluded.role, status = excluded.status,
        joined_at = excluded.joined_at, read_seq = excluded.read_seq, read_at = excluded.read_at
    returning m.* into v_new;

    perform log_announce(member_log(log_begin(), v_now, v_thread, v_new, case when v_joins then 'begins' else 'none' end));
    return member_view(v_new);
end $$;

-- Takes `p_user` out: removed by somebody else, or left (an invitation declined) by themselves. When the last owner
-- goes, the longest-standing admin, else member, becomes owner.
-- Fails: PY404 thread_not_found, member_not_found; PY403 not_joined, not_allowed; PY409 direct_members_fixed.
-- locks: the thread, the members' rows, then the log
create or replace function member_delete(p_actor uuid, p_thread uuid, p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread threads := thread_lock(p_thread);
    v_actor members;
    v_old members;
    v_new members;
    v_heir members;
    v_head bigint;
begin
    if p_actor = p_user then
        v_actor := member_of(p_thread, p_actor);
        if v_actor.status is null then
            perform thread_refuse();
        end if;
    else
        v_actor := member_joined(p_thread, p_actor);
    end if;
    if v_thread.kind = 'direct' then
        raise exception using errcode = 'PY409', message = 'direct_members_fixed',
            detail = 'Nobody leaves a direct thread; archive it instead.';
    end if;
    v_old := member_of(p_thread, p_user);
    if v_old.status is null then
        raise exception using errcode = 'PY404', message = 'member_not_found', detail = 'The thread has no such member.';
    elsif p_actor <> p_user and not (v_actor.role = 'owner' or (v_actor.role = 'admin' and v_old.role = 'member')) then
        raise exception using errcode = 'PY403', message = 'not_allowed',
            detail = 'Owners may remove anyone, admins only members.';
    end if;
    update members m set role = 'member', status = case when p_actor = p_user then 'left' else 'removed' end
    where m.thread_id = p_thread and m.user_id = p_user returning m.* into v_new;
    if v_old.status = 'joined' then
        update threads t set member_count = t.member_count - 1 where t.id = p_thread returning t.* into v_thread;
    end if;
    if v_old.role = 'owner' and not exists
        (select from members m where m.thread_id = p_thread and m.role = 'owner' and m.status = 'joined') then
        update members m set role = 'owner'
        where m.thread_id = p_thread and m.user_id = (select h.user_id from members h
            where h.thread_id = p_thread and h.status = 'joined'
            order by h.role = 'admin' desc, h.joined_at, h.user_id limit 1)
        returning m.* into v_heir;
    end if;
    v_head := log_begin();
    v_head := member_log(v_head, v_now, v_thread, v_new, case when v_old.status = 'joined' then 'ends' else 'none' end);
    if v_heir.status is not null then
        v_head := member_log(v_head, v_now, v_thread, v_heir, 'none');
    end if;
    perform log_announce(v_head);
end $$;

-- Joins the room of that title, making it if there is none: whether it was made, and the room as the caller sees it.
-- Fails: PY404 thread_not_found (removed from it), PY422 (full).
create or replace function room_join(p_thread uuid, p_user uuid, p_title text, p_room_key text, p_room_max int)
returns table (created boolean, thread text)
language plpgsql volatile as $$
declare
    v_room uuid;
begin
    -- Twice at most: whoever loses the race to make it finds it made.
    for v_try in 1 .. 2 loop
        select t.id into v_room from threads t where t.room_key = p_room_key;
        if found then
            perform member_put(p_user, v_room, p_user, null, 'joined', 0, p_room_max);
            return query select false, thread_get(p_user, v_room);
            return;
        end if;
        return query select c.created, c.thread from thread_create(p_thread, 'room', p_title, p_room_key, p_user, '{}', false) c;
        if found then
            return;
        end if;
    end loop;
end $$;

-- The thread's members, owners first, then admins; those who left or were removed are shown to owners and admins.
-- Fails: PY404 thread_not_found, PY403 not_joined.
create or replace function member_list(p_user uuid, p_thread uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
declare
    v_caller members := member_joined(p_thread, p_user);
begin
    return query
    select member_view(m)::text, r.rank, m.user_id
    from members m
    cross join lateral (select case m.role when 'owner' then 0 when 'admin' then 1 else 2 end::bigint as rank) r
    where m.thread_id = p_thread and (m.status in ('joined', 'invited') or v_caller.role in ('owner', 'admin'))
        and (p_after_rank is null or (r.rank, m.user_id) > (p_after_rank, p_after_id))
    order by r.rank, m.user_id
    limit p_limit;
end $$;
