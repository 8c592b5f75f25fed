-- A membership.

-- Returns: the caller's row if they have joined or are invited, otherwise null.
create or replace function member_of(p_thread uuid, p_user uuid) returns members
language plpgsql stable as $$
declare
    v_member members;
begin
    select * into v_member from members m
    where m.thread_id = p_thread and m.user_id = p_user and m.status in ('joined', 'invited');
    return v_member;
end $$;

-- Returns: the membership of a caller who may read and write in the thread. Null stands for the host app's server, which
-- may do what an owner may, in every thread, and from which nothing is hidden.
-- Fails: PY404 thread_not_found, PY403 not_joined.
create or replace function member_joined(p_thread uuid, p_user uuid) returns members
language plpgsql stable as $$
declare
    v_member members := member_of(p_thread, p_user);
begin
    if p_user is null then
        return member_server(p_thread);
    elsif v_member.status is null then
        perform thread_refuse();
    elsif v_member.status = 'invited' then
        perform refuse(403, 'not_joined', 'Accept the invitation to this thread first.');
    end if;
    return v_member;
end $$;

-- Returns: the host app's server as a member of any thread.
-- Fails: PY404 thread_not_found.
create or replace function member_server(p_thread uuid) returns members
language plpgsql stable as $$
declare
    v_member members;
begin
    if not exists (select from threads t where t.id = p_thread) then
        perform refuse_unknown('thread');
    end if;
    v_member.thread_id := p_thread;
    v_member.role := 'owner';
    v_member.status := 'joined';
    v_member.hidden_before_seq := 0;
    v_member.hides := false;
    return v_member;
end $$;

-- Returns: a member as other members see them, with the effective marks. With `p_is_live` a joined member has presence:
-- in answers, but not in the log, which does not keep presence, and not in the direct thread of a user who has blocked
-- the other.
create or replace function member_view(m members, p_is_live boolean default false) returns json
language sql stable as $$
    select json_build_object(
        'user', case when p_is_live and m.status = 'joined' and m.blocks is null then profile_json(u) else user_json(u) end,
        'role', m.role, 'status', m.status, 'read_seq', r.seq, 'delivered_seq', greatest(m.delivered_seq, r.seq),
        'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at), 'joined_at', rfc3339(m.joined_at))
    from users u cross join (select member_read_seq(m) as seq) r
    where u.id = m.user_id
$$;
