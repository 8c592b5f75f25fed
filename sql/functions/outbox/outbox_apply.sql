-- Handles the rows of an outbox by the rules of the API, without its checks of rights: the sending program has them.

-- Handles rows of an outbox: messages, or one row of another kind. `p_attachments` holds an array literal for each
-- message with attachments. The last arguments are the limits of groups, rooms and accounts.
-- Returns: a row for each one that is refused: its index from 1, a problem code, and a sentence.
-- Fails: as message_append, or as the function for a row of another kind.
-- Locks: as message_append, outbox_add_member or outbox_ensure_direct
create or replace function outbox_apply(
    p_kinds text[], p_threads uuid[], p_users uuid[], p_others uuid[], p_ids uuid[], p_payloads json[],
    p_attachments text[], p_group_max int, p_room_max int, p_threads_max int
) returns table (item int, code text, detail text)
language plpgsql volatile as $$
declare
    v_threads uuid[];
    v_active int[];
begin
    if p_kinds[1] = 'ensure_direct' then
        perform outbox_ensure_direct(p_threads[1], p_users[1], p_others[1], p_threads_max);
        return;
    end if;
    v_threads := array(select outbox_thread(g.id) from unnest(p_threads) with ordinality g (id, place) order by g.place);
    if p_kinds[1] = 'add_member' then
        perform outbox_add_member(v_threads[1], p_users[1], p_group_max, p_room_max, p_threads_max);
        return;
    end if;
    v_active := array(select g.place::int from unnest(p_users) with ordinality g (id, place)
        join users u on u.id = g.id where u.erased_at is null and u.suspended_at is null order by g.place);
    return query
    select g.place::int, case when u.suspended_at is not null then 'account_suspended' else 'user_not_found' end,
        case when u.suspended_at is not null then 'The sender''s account is suspended.' else 'There is no such sender.' end
    from unnest(p_users) with ordinality g (id, place) left join users u on u.id = g.id
    where g.place <> all (v_active);
    if v_active <> '{}' then
        return query
        select v_active[a.item], coalesce(r.code, 'internal_error'), coalesce(r.detail, 'Unknown outcome ' || a.outcome || '.')
        from message_append(
            array(select p_ids[i] from unnest(v_active) i), array(select v_threads[i] from unnest(v_active) i),
            array(select p_users[i] from unnest(v_active) i), array_fill('message'::text, array[cardinality(v_active)]),
            array(select p_payloads[i] from unnest(v_active) i), array_fill(null::uuid, array[cardinality(v_active)]),
            array_fill('{}'::text, array[cardinality(v_active)]), null, '', null, null,
            case when exists (select from unnest(p_attachments) x (ids) where x.ids is not null)
                then array(select p_attachments[i] from unnest(v_active) i) end) a
        left join lateral outbox_refusal(case
            when a.outcome = 'no_thread' and exists (select from threads t where t.id = v_threads[v_active[a.item]])
                then 'not_joined' else a.outcome end) r on true
        where a.outcome not in ('created', 'exists');
    end if;
end $$;

-- Adds a member to a group or room, as an owner does with member_put. In a group a system message says that they
-- joined. Does nothing for somebody who has joined.
-- Fails: PY404 thread_not_found, user_not_found; PY403 account_suspended, member_left; PY409 direct_members_fixed; PY422
-- (thread is full), too_many_threads.
-- Locks: the thread, the member's row, the member's count, then the log
create or replace function outbox_add_member(
    p_thread uuid, p_user uuid, p_group_max int, p_room_max int, p_threads_max int) returns void
language plpgsql volatile as $$
declare
    v_thread threads := thread_lock(p_thread);
    v_now timestamptz := stamp();
    v_old members;
    v_new members;
begin
    select * into v_old from members m where m.thread_id = p_thread and m.user_id = p_user for no key update;
    if v_old.status = 'joined' then
        return;
    elsif v_thread.kind = 'direct' then
        perform refuse(409, 'direct_members_fixed', 'A direct thread always has the same two members.');
    elsif outbox_has_left(v_old) then
        perform refuse(403, 'member_left', 'This user left the thread by their own choice. A member can invite them.');
    elsif exists (select from users u where u.id = p_user and u.suspended_at is not null) then
        perform refuse(403, 'account_suspended', 'This account is suspended.');
    elsif not exists (select from users u where u.id = p_user and u.erased_at is null) then
        perform refuse_unknown('user');
    end if;
    v_new := member_put_wanted(v_thread, p_user, p_user, v_old, null, 'joined', v_now);
    perform thread_refuse_full(v_thread, v_old, v_new, p_group_max, p_room_max);
    if v_old.status is null or v_old.status in ('left', 'removed') then
        perform thread_count_add(p_user, array[p_user], p_threads_max);
    end if;
    perform member_write(v_thread, v_now, v_new, 'begins', null);
end $$;

-- Makes the direct thread of two people with the id that parley.ensure_direct returned. If they have one already, the
-- first person joins it, and `p_id` becomes an alias of its id (direct_aliases).
-- Fails: PY422 (members: somebody is not a user), too_many_threads; PY403 not_reachable.
-- Locks: as thread_create
create or replace function outbox_ensure_direct(p_id uuid, p_one uuid, p_two uuid, p_threads_max int) returns void
language plpgsql volatile as $$
declare
    v_thread uuid;
begin
    perform user_require(p_one);
    perform from thread_create(p_id, 'direct', null, null, p_one, array[p_two], false, null, p_threads_max);
    select t.id into v_thread from threads t
    where t.direct_low = least(p_one, p_two) and t.direct_high = greatest(p_one, p_two);
    if v_thread <> p_id then
        insert into direct_aliases (id, thread_id) values (p_id, v_thread) on conflict do nothing;
    end if;
end $$;
