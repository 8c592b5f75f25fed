-- Making threads.

-- Makes a thread with its first members; the creator is its owner. For two people who have a direct thread, returns
-- that thread, and lets the caller in if they were only invited or had declined. `p_members` is without the creator
-- and without duplicates; with `p_invite` they are invited, otherwise joined. `p_keep_s` as threads.keep_s; an
-- existing thread keeps its own.
--   p_threads_max             how many threads each of them may have; null: any number
--   p_strangers_are_invited   people who share no thread with the creator are invited in any case
--   p_custom, p_labels        as in threads; an existing thread keeps its own
--   p_keys, p_steps_ms, p_windows_ms   the creator's limits, as in rate_limit_spend: new threads, strangers added
-- The host app's server has no creator (null): the thread's members are `p_members` alone, with `p_roles` in their order.
-- It gives an image and an external id, and gets no row if the thread exists already (admin_thread_create).
-- Fails: PY422 (members: somebody is not a user); PY422 too_many_threads; PY403 not_reachable (one of them has blocked
-- the creator); PY429 rate_limited.
-- Locks: the pair, their thread; the room's unique key; the creator's limits; the members' counts; then the log. For
-- an existing thread as member_put
create or replace function thread_create(
    p_thread uuid, p_kind text, p_title text, p_room_key text, p_creator uuid, p_members uuid[], p_invite boolean,
    p_keep_s int default null, p_threads_max int default null, p_strangers_are_invited boolean default false,
    p_custom text default null, p_labels text[] default null,
    p_keys bytea[] default null, p_steps_ms int[] default null, p_windows_ms int[] default null,
    p_roles text[] default null, p_image text default null, p_external_id text default null
) returns table (created boolean, thread text)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread threads;
    v_head bigint;
    v_strangers uuid[] := '{}';
    v_invited uuid[] := case when p_invite then p_members else '{}' end;
    v_joined uuid[];
    v_unknown uuid;
    v_body text;
    v_people uuid[] := array_remove(p_creator || p_members, null);
begin
    select n.id into v_unknown from unnest(p_members) n (id)
    where not exists (select from users u where u.id = n.id and u.erased_at is null) limit 1;
    if found then
        perform refuse(422, 'invalid', format('There is no user %s.', v_unknown), 'members');
    end if;
    if p_kind = 'direct' and direct_lock(v_people[1], v_people[2]) is not null and p_creator is not null then
        perform block_check(p_creator, p_members);
    end if;
    if p_members <> '{}' and p_creator is not null and (p_keys <> '{}' or p_strangers_are_invited) then
        v_strangers := strangers(p_creator, p_members);
    end if;
    if p_strangers_are_invited and not p_invite then
        v_invited := v_strangers;
    end if;
    v_joined := array(select n.id from unnest(v_people) n (id) where n.id <> all (v_invited));
    insert into threads (id, kind, title, image, room_key, external_id, keep_s, created_at, member_count, direct_low,
        direct_high, custom, labels)
    values (p_thread, p_kind, p_title, p_image, p_room_key, p_external_id, p_keep_s, v_now, cardinality(v_joined),
        case when p_kind = 'direct' then least(v_people[1], v_people[2]) end,
        case when p_kind = 'direct' then greatest(v_people[1], v_people[2]) end, p_custom, nullif(p_labels, '{}'))
    on conflict do nothing
    returning * into v_thread;
    if not found and p_creator is null then
        return;
    elsif not found then
        -- Another call made it first. Only direct threads get here: rooms are created by room_join.
        return query select false, thread_reopen(t.id, p_creator, p_threads_max) from threads t
            where t.direct_low = least(p_creator, p_members[1]) and t.direct_high = greatest(p_creator, p_members[1]);
        return;
    end if;
    perform rate_limit_spend(1, 1, p_keys, p_steps_ms, p_windows_ms);
    perform rate_limit_spend(2, cardinality(v_strangers), p_keys, p_steps_ms, p_windows_ms);
    perform thread_count_add(p_creator, v_people, p_threads_max);
    perform attachment_use_picture('thread', p_thread, null, null, p_image, 'image');
    insert into members (thread_id, user_id, role, status, joined_at, invited_at, invited_by, is_bot)
    select p_thread, n.id, case when n.id = p_creator then 'owner'
            else coalesce(p_roles[array_position(p_members, n.id)], 'member') end,
        case when n.is_joined then 'joined' else 'invited' end, case when n.is_joined then v_now end,
        case when not n.is_joined then v_now end, case when not n.is_joined then p_creator end,
        (select u.is_bot from users u where u.id = n.id)
    from (select u.id, u.id = any (v_joined) as is_joined from unnest(v_people) u (id)) n;

    if p_kind = 'direct' then
        perform block_mark(p_thread);
    end if;
    v_head := log_begin() + 1;
    if p_creator is not null then
        perform block_check(p_creator, p_members);
    elsif p_kind = 'direct' then
        perform block_check(v_people[1], v_people[2:]);
        perform block_check(v_people[2], v_people[:1]);
    end if;
    perform account_check(v_people);
    insert into events (pos, at, type, thread_id, begins, actor_id, body)
    values (v_head, v_now, 'thread.created', p_thread, v_joined, p_creator,
        event_json('thread.created', p_thread, v_now, thread_created_data(v_thread, null)));
    insert into membership_spans (user_id, thread_id, from_pos) select n.id, p_thread, v_head from unnest(v_joined) n (id);
    if v_invited <> '{}' then
        -- The same event for all members.
        v_body := event_json('thread.created', p_thread, v_now, thread_created_data(v_thread,
            (select m from members m where m.thread_id = p_thread and m.status = 'invited' limit 1)));
        insert into events (pos, at, type, thread_id, user_id, actor_id, body)
        select v_head + n.place, v_now, 'thread.created', p_thread, n.id, p_creator, v_body
        from unnest(v_invited) with ordinality n (id, place);
        v_head := v_head + cardinality(v_invited);
    end if;
    perform log_announce(v_head);
    if p_creator is null then
        return query select true, admin_thread_get(p_thread);
        return;
    end if;
    return query select true, thread_view(v_thread, m)::text from members m
        where m.thread_id = p_thread and m.user_id = p_creator;
end $$;

-- Returns: an existing direct thread as the caller sees it. A caller who was invited to it, or had declined, joins it.
-- Locks: as member_put, only if the caller joins
create or replace function thread_reopen(p_thread uuid, p_user uuid, p_threads_max int default null) returns text
language plpgsql volatile as $$
begin
    if not exists (select from members m where m.thread_id = p_thread and m.user_id = p_user and m.status = 'joined') then
        perform member_put(p_user, p_thread, p_user, null, 'joined', 0, 0, p_threads_max);
    end if;
    return thread_get(p_user, p_thread);
end $$;

-- Returns: the data of thread.created: the thread, and its members if they are few enough for each to get events about
-- each. Invited people get no members, because they may not see yet who has read how far. For `m`, who joins an
-- existing thread, also what the inbox says, as at this place in the log: their settings, which outlive leaving, marks
-- and counts. It has no message, whose content would have to be withdrawn here too, and no presence, which the log
-- does not keep. `m` is null for the first members. `p_members` may be what thread_created_members returns.
create or replace function thread_created_data(t threads, m members, p_members jsonb default null) returns text
language plpgsql stable as $$
declare
    v_thread jsonb := thread_json(t);
begin
    if m.status is not null then
        v_thread := thread_view(t, m, false)::jsonb - 'last_message';
        if t.kind = 'direct' then
            v_thread := jsonb_set(v_thread, '{peer}', v_thread -> 'peer' || '{"presence":null,"last_seen_at":null}');
        end if;
    end if;
    return (v_thread || jsonb_build_object('members', case when m.status is distinct from 'invited'
        then coalesce(p_members, thread_created_members(t)) else '[]' end))::text;
end $$;

-- Returns: the members of a thread as thread.created shows them; none of more than 100.
create or replace function thread_created_members(t threads) returns jsonb
language plpgsql stable as $$
declare
    v_members members[];
begin
    if t.member_count <= 100 then
        v_members := array(select x from members x where x.thread_id = t.id and x.status in ('joined', 'invited') limit 101);
    end if;
    return coalesce((
        select jsonb_agg(member_view(x::members) order by x.joined_at, x.user_id)
        from unnest(v_members) x where cardinality(v_members) <= 100), '[]');
end $$;
