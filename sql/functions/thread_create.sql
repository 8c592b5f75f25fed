-- Makes a thread with its first members, the creator as owner; for a direct pair that has one, gives the standing
-- thread. `p_members` is without the creator and without repeats; with `p_invite` they are invited, else joined.
-- Fails: PY422 (members: somebody isn't a user).
-- locks: the pair's or the room's unique key, then the log
create or replace function thread_create(
    p_thread uuid, p_kind text, p_title text, p_room_key text, p_creator uuid, p_members uuid[], p_invite boolean
) returns table (created boolean, thread text)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread threads;
    v_head bigint;
    v_joined uuid[] := p_creator || case when p_invite then '{}' else p_members end;
begin
    if exists (select from unnest(p_members) n (id) where not exists (select from users u where u.id = n.id)) then
        raise exception using errcode = 'PY422', message = 'invalid', hint = 'members', detail = 'There is no such user.';
    end if;
    insert into threads (id, kind, title, room_key, created_at, member_count, direct_low, direct_high)
    values (p_thread, p_kind, p_title, p_room_key, v_now, cardinality(v_joined),
        case when p_kind = 'direct' then least(p_creator, p_members[1]) end,
        case when p_kind = 'direct' then greatest(p_creator, p_members[1]) end)
    on conflict do nothing
    returning * into v_thread;
    if not found then
        -- Another made it first. Only a direct pair can get here: rooms go through room_join.
        return query select false, thread_view(t, m)::text from threads t
            join members m on m.thread_id = t.id and m.user_id = p_creator
            where t.direct_low = least(p_creator, p_members[1]) and t.direct_high = greatest(p_creator, p_members[1]);
        return;
    end if;
    insert into members (thread_id, user_id, role, status, joined_at)
    select p_thread, n.id, case when n.id = p_creator then 'owner' else 'member' end,
        case when n.id = any (v_joined) then 'joined' else 'invited' end,
        case when n.id = any (v_joined) then v_now end
    from unnest(p_creator || p_members) n (id);

    v_head := log_begin();
    insert into events (pos, at, type, thread_id, begins, body)
    values (v_head + 1, v_now, 'thread.created', p_thread, v_joined,
        event_json('thread.created', p_thread, v_now, thread_created_data(v_thread)));
    insert into membership_spans (user_id, thread_id, from_pos) select n.id, p_thread, v_head + 1 from unnest(v_joined) n (id);
    insert into events (pos, at, type, thread_id, user_id, body)
    select v_head + 1 + row_number() over (order by m.user_id), v_now, 'thread.created', p_thread, m.user_id,
        event_json('thread.created', p_thread, v_now, thread_created_data(v_thread))
    from members m where m.thread_id = p_thread and m.status = 'invited';
    perform log_announce(log_head());
    return query select true, thread_view(v_thread, m)::text from members m
        where m.thread_id = p_thread and m.user_id = p_creator;
end $$;

-- What thread.created carries: the thread, and its members as far as they are few enough for every one to hear of each.
create or replace function thread_created_data(t threads) returns text
language sql stable as $$
    select (thread_json(t)::jsonb || jsonb_build_object('members', coalesce((
        select jsonb_agg(member_view(m) order by m.joined_at, m.user_id)
        from members m
        where m.thread_id = t.id and m.status in ('joined', 'invited') and t.member_count <= 100), '[]')))::text
$$;
