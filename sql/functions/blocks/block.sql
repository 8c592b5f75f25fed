-- Blocks. docs/access.md has the rules. The rows of the two members of a direct thread have the blocks between them
-- (members.blocked, members.blocks), changed under the thread's lock. So a send checks rows that it reads anyway, and
-- the order of the log shows whether it came before the block. Adding people is checked while the log is locked.

-- Fails: PY403 not_reachable, always. It says neither why nor who blocked the caller.
create or replace function block_refuse() returns void
language sql stable as $$
    select refuse(403, 'not_reachable', 'You cannot write to, invite or add this user.')
$$;

-- Fails: PY403 not_reachable if one of `p_users` has blocked `p_actor`.
-- Locks: the caller holds the log's lock, so the check sees every block that is earlier in the log
-- Costs: one index probe for all of them together
create or replace function block_check(p_actor uuid, p_users uuid[]) returns void
language plpgsql volatile as $$
begin
    if exists (select from blocks b where b.blocked_id = p_actor and b.user_id = any (p_users)) then
        perform block_refuse();
    end if;
end $$;

-- Returns: the direct thread of two people, locked; null when they have none, and then no session can create one before
-- this transaction ends.
-- Locks: the pair, the thread
create or replace function direct_lock(p_user uuid, p_other uuid) returns uuid
language plpgsql volatile as $$
declare
    v_thread uuid;
begin
    perform lock_row('pairs', direct_key(p_user, p_other));
    select t.id into v_thread from threads t
    where t.direct_low = least(p_user, p_other) and t.direct_high = greatest(p_user, p_other) for no key update;
    return v_thread;
end $$;

-- Returns: the number by which direct_lock locks a pair. Few pairs share one of 1,024, and an import that creates many
-- direct threads needs no more locks (import_mark_blocks).
create or replace function direct_key(p_user uuid, p_other uuid) returns int
language sql immutable as $$
    select hashtext(least(p_user, p_other) || ' ' || greatest(p_user, p_other)) & 1023
$$;

-- Blocks, or with `p_blocked` false unblocks, and notifies the caller's own devices. Doing it again changes nothing.
-- Fails: PY404 user_not_found; PY422 (user_id: the caller).
-- Locks: the pair, their direct thread, both members' rows, then the log
create or replace function block_put(p_user uuid, p_other uuid, p_blocked boolean) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread uuid;
    v_head bigint;
begin
    if p_user = p_other then
        perform refuse(422, 'invalid', 'You cannot block yourself.', 'user_id');
    elsif not exists (select from users u where u.id = p_other and u.erased_at is null) then
        perform refuse_unknown('user');
    end if;
    v_thread := direct_lock(p_user, p_other);
    if p_blocked then
        insert into blocks (user_id, blocked_id, created_at) values (p_user, p_other, v_now) on conflict do nothing;
    else
        delete from blocks b where b.user_id = p_user and b.blocked_id = p_other;
    end if;
    if not found then
        return;
    end if;
    perform block_mark(v_thread);
    v_head := log_begin() + 1;
    insert into events (pos, at, type, user_id, actor_id, body)
    values (v_head, v_now, 'settings.updated', p_user, p_user, event_json('settings.updated', null, v_now,
        json_build_object('block', json_build_object('user_id', p_other, 'blocked', p_blocked))::text));
    perform log_announce(v_head);
end $$;

-- Writes the blocks between two people to their rows in their direct thread. Does nothing for null.
-- Locks: both members' rows; the caller holds the thread, or has just created it
create or replace function block_mark(p_thread uuid) returns void
language plpgsql volatile as $$
begin
    perform from members m where m.thread_id = p_thread order by m.user_id for no key update;
    update members m set blocked = n.blocked, blocks = n.blocks
    from (
        select x.user_id,
            (select true from blocks b where b.user_id = o.user_id and b.blocked_id = x.user_id) as blocked,
            (select true from blocks b where b.user_id = x.user_id and b.blocked_id = o.user_id) as blocks
        from members x join members o on o.thread_id = x.thread_id and o.user_id <> x.user_id
        where x.thread_id = p_thread
    ) n
    where m.thread_id = p_thread and m.user_id = n.user_id
        and (m.blocked, m.blocks) is distinct from (n.blocked, n.blocks);
end $$;

-- Returns: a page of the users whom the caller has blocked, the latest first.
create or replace function block_list(p_user uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
begin
    return query
    select json_build_object('user', user_json(u), 'created_at', rfc3339(p.created_at))::text,
        (extract(epoch from p.created_at) * 1000)::bigint, p.blocked_id
    from (
        select b.created_at, b.blocked_id from blocks b
        where b.user_id = p_user and (p_after_id is null or (b.created_at, b.blocked_id)
            < (timestamptz 'epoch' + p_after_rank * interval '1 ms', p_after_id))
        order by b.created_at desc, b.blocked_id desc
        limit p_limit
    ) p
    join users u on u.id = p.blocked_id
    order by p.created_at desc, p.blocked_id desc;
end $$;
