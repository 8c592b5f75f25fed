-- Which devices poll, and at which node. Planning alerts asks for this before it alerts a device. Nodes report devices
-- in batches, as they come and go; no poll asks or writes anything. One lock (push_plan_lock) serialises all that
-- decides about a device's alerts: planning (push_plan) holds it alone, reports share it.

-- Reports the devices that came to a node, with the position of their cursors, and those that went, with the last
-- position up to which they have received everything. A device that went from here and came to another node stays
-- there. With `p_is_whole` no other devices poll here, and devices that poll at another node meanwhile stay there,
-- too.
-- Locks: planning alerts (shared), the devices' targets by session, then their polls and jobs
create or replace function device_poll_put(
    p_node text, p_came uuid[], p_users uuid[], p_came_pos bigint[], p_gone uuid[], p_gone_pos bigint[],
    p_is_whole boolean default false
) returns void
language plpgsql volatile as $$
declare
    v_end bigint;
    -- A cursor of a lost log may be past the head.
    v_head bigint;
begin
    lock table push_plan_lock in share mode;
    insert into presence_nodes (node, seen_at) values (p_node, stamp()) on conflict do nothing;
    perform from push_targets t where t.session_id = any (p_came || p_gone) order by t.session_id for no key update;
    select coalesce(s.upto_pos, s.pos), log_head() into v_end, v_head from push_state s;
    if p_is_whole then
        perform device_poll_leave(p_node, p_came);
    end if;

    -- Keep `from_pos` of a device that changes nodes: it may still lack what was left to its polls.
    insert into device_polls as d (session_id, user_id, node, from_pos)
    select c.session_id, c.user_id, p_node, v_end
    from (select distinct on (u.session_id) u.session_id, u.user_id from unnest(p_came, p_users) u (session_id, user_id)
        order by u.session_id) c
    order by c.session_id
    on conflict (session_id) do update set node = excluded.node where not p_is_whole or d.node = '';
    -- By arrays, not by joining them: whatever the statistics say, this uses probes of the index.
    delete from push_jobs j
    where j.session_id = any (p_came) and j.pos <= p_came_pos[array_position(p_came, j.session_id)];
    update push_jobs j set due_at = 'infinity' where j.session_id = any (p_came) and j.due_at is distinct from 'infinity';

    update device_polls d set node = '',
        from_pos = greatest(d.from_pos, least(p_gone_pos[array_position(p_gone, d.session_id)], v_head))
    where d.session_id = any (p_gone) and d.node is not distinct from p_node;
    update push_targets t set decided_pos = least(p_gone_pos[array_position(p_gone, t.session_id)], v_head)
    where t.session_id = any (p_gone) and t.decided_pos < least(p_gone_pos[array_position(p_gone, t.session_id)], v_head);
    delete from push_jobs j
    where j.session_id = any (p_gone) and j.pos <= p_gone_pos[array_position(p_gone, j.session_id)];
    -- For devices that came and went in one report: their first job may not be due yet.
    perform push_job_next(p_gone, clock_timestamp());
end $$;

-- Records that the devices that poll at a node, except `p_but`, have gone at an unknown time. They have received what
-- all devices there had at the last heartbeat. Events from before that, which were left to their polls, are planned
-- for them now.
-- Locks: their polls
create or replace function device_poll_leave(p_node text, p_but uuid[] default '{}') returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    update device_polls d set node = '', from_pos = greatest(d.from_pos, n.pos)
    from presence_nodes n
    where n.node = p_node and d.node = n.node and d.session_id <> all (p_but);
    get diagnostics v_count = row_count;
    return v_count;
end $$;

-- Records that a node is alive, and the position up to which all devices that poll there have received everything.
-- Returns: whether the node must report all its devices again: it was considered dead, or this is its first heartbeat.
-- Locks: the node's row
create or replace function device_poll_heartbeat(p_node text, p_pos bigint, p_now timestamptz default null) returns boolean
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_pos bigint;
begin
    select n.pos into v_pos from presence_nodes n where n.node = p_node for no key update;
    insert into presence_nodes as n (node, seen_at, pos) values (p_node, v_now, p_pos)
    on conflict (node) do update set seen_at = greatest(n.seen_at, excluded.seen_at), pos = excluded.pos;
    return v_pos is null;
end $$;

-- Records that the devices of nodes have gone that sent no heartbeat for 45 s. Runs on every node.
-- Returns: how many devices.
-- Locks: planning alerts, the nodes' rows, their devices' polls
create or replace function device_poll_sweep(p_now timestamptz default null) returns int
language plpgsql volatile as $$
declare
    v_dead timestamptz := coalesce(p_now, stamp()) - interval '45 s';
    v_nodes text[];
    v_count int;
begin
    if not exists (select from presence_nodes n where n.seen_at < v_dead) then
        return 0;
    end if;
    lock table push_plan_lock in share update exclusive mode;
    v_nodes := array(select n.node from presence_nodes n where n.seen_at < v_dead order by n.node for update);
    -- Another node may have swept them meanwhile.
    v_count := (select coalesce(sum(device_poll_leave(n.node)), 0) from unnest(v_nodes) n (node));
    update presence_nodes n set pos = null where n.node = any (v_nodes) and n.pos is not null;
    delete from presence_nodes n where n.node = any (v_nodes) and not exists (select from presence p where p.node = n.node);
    return v_count;
end $$;
