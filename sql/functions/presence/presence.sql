-- Presence: who is online. It is shown to people who share a thread, and never kept in the log.

-- Returns: presence as people see it who may: online (some device polls at a node) or offline, and then since when.
-- Nulls for a bot, and for a user who does not share it. When a node was killed, the last recorded use of a session may be all that
-- is known.
-- Costs: a look at the account's sessions, at most 1,000: the highest bound that can be set
create or replace function presence_of(u users) returns table (presence text, last_seen_at timestamptz)
language sql stable rows 1 as $$
    select p.presence, case p.presence when 'offline' then greatest(u.last_seen_at,
        (select max(x.last_used_at) from (select s.last_used_at from sessions s where s.user_id = u.id limit 1000) x)) end
    from (select case
        when u.is_bot or u.preferences ->> 'share_presence' = 'false' then null
        when exists (select from presence x where x.user_id = u.id) then 'online'
        else 'offline' end as presence offset 0) p
$$;

-- Returns: a profile for people who share a thread with the user. It has the shape of user_json.
create or replace function profile_json(u users) returns json
language plpgsql stable as $$
begin
    return (select kind_json(u, json_build_object('id', u.id, 'username', u.username, 'name', u.name,
        'profile_image', u.profile_image, 'status_text', u.status_text, 'custom', u.custom::json, 'presence', p.presence,
        'last_seen_at', rfc3339(p.last_seen_at)))
    from presence_of(u) p);
end $$;

-- Returns: whether both have joined one and the same thread.
create or replace function users_share_thread(p_user uuid, p_other uuid) returns boolean
language sql stable as $$
    select exists (select from members a join members b on b.thread_id = a.thread_id and b.user_id = p_other
        where a.user_id = p_user and a.status = 'joined' and b.status = 'joined')
$$;

-- Returns: whether both have joined their direct thread, and `p_user` is not blocked there. Nobody leaves a direct
-- thread.
create or replace function users_have_direct(p_user uuid, p_other uuid) returns boolean
language plpgsql stable as $$
begin
    return exists (select from threads t join members m on m.thread_id = t.id and m.user_id = p_user
        where t.direct_low = least(p_user, p_other) and t.direct_high = greatest(p_user, p_other)
            and t.member_count = 2 and m.blocked is null);
end $$;

-- Returns: the presence.updated events of users as they are now, and for each the threads whose members get it:
-- threads of up to 100 members, at most 1,000 of them. Not the direct threads whose other member the user has blocked.
create or replace function presence_changes(p_users uuid[])
returns table (user_id uuid, threads uuid[], body text, is_shared boolean)
language sql stable as $$
    select u.id, array(select m.thread_id from members m
            cross join lateral (select x.member_count from threads x where x.id = m.thread_id limit 1) t
            where m.user_id = u.id and m.status = 'joined' and m.blocks is null and t.member_count between 2 and 100 limit 1000),
        event_json('presence.updated', null, stamp(), json_build_object('user_id', u.id, 'presence', p.presence,
            'last_seen_at', rfc3339(p.last_seen_at))::text),
        p.presence is not null
    from unnest(p_users) g (id)
    cross join lateral (select x.* from users x where x.id = g.id limit 1) u
    cross join lateral presence_of(u::users) p
$$;

-- Records which users came online and went offline at a node, the latter with how many milliseconds ago. With
-- `p_is_whole` nobody else is online at the node.
-- Returns: presence.updated for users who changed by it, because this was the first or the last of their nodes.
-- Locks: presence as a whole (short: one call at a time decides who went offline), then the rows of users who went
-- offline
create or replace function presence_put(
    p_node text, p_online uuid[], p_offline uuid[], p_ages_ms bigint[], p_is_whole boolean default false,
    p_now timestamptz default null
) returns table (user_id uuid, threads uuid[], body text)
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_came uuid[];
    v_went uuid[];
begin
    perform lock_row('presence');
    insert into presence_nodes (node, seen_at) values (p_node, v_now) on conflict do nothing;
    v_came := array(select distinct g.id from unnest(p_online) g (id)
        where (select p.node from presence p where p.user_id = g.id limit 1) is null);
    insert into presence (user_id, node) select distinct g.id, p_node from unnest(p_online) g (id) on conflict do nothing;
    with gone as (
        -- `is not distinct`: so that the index by node is not used, which would read all users of the node.
        delete from presence p where p.node is not distinct from p_node and p.user_id = any (p_offline || case when p_is_whole
            then array(select o.user_id from presence o where o.node = p_node and o.user_id <> all (p_online)) end)
        returning p.user_id
    )
    select array_agg(g.user_id) into v_went from gone g;
    v_went := presence_leave(v_went, array(select v_now - coalesce(
        p_ages_ms[array_position(p_offline, w.id)], 0) * interval '1 ms' from unnest(v_went) with ordinality w (id, n) order by w.n));
    return query
    select c.user_id, c.threads, c.body from presence_changes(v_came || v_went) c where c.is_shared;
end $$;

-- Records when those of the users were last seen who are online at no node now.
-- Returns: those users.
-- Locks: the users' rows
create or replace function presence_leave(p_users uuid[], p_times timestamptz[]) returns uuid[]
language plpgsql volatile as $$
declare
    v_went uuid[];
begin
    perform from users u where u.id = any (p_users) order by u.id for no key update;
    with noted as (
        update users u set
            last_seen_at = date_trunc('milliseconds', greatest(u.last_seen_at, p_times[array_position(p_users, u.id)]))
        where u.id = any (p_users) and u.erased_at is null
            and (select p.node from presence p where p.user_id = u.id limit 1) is null
        returning u.id
    )
    select array_agg(n.id) into v_went from noted n;
    return coalesce(v_went, '{}');
end $$;

-- Records that a node is alive. If the number differs from what the node knows, the node sends its users again.
-- Returns: how many users are online at the node.
-- Locks: the node's row
create or replace function presence_heartbeat(p_node text, p_now timestamptz default null) returns bigint
language plpgsql volatile as $$
begin
    insert into presence_nodes as n (node, seen_at) values (p_node, coalesce(p_now, stamp()))
    on conflict (node) do update set seen_at = greatest(n.seen_at, excluded.seen_at);
    return (select count(*) from presence p where p.node = p_node);
end $$;

-- Makes users offline whose nodes sent no heartbeat for 45 s, at most `p_limit` of them. Runs on every node, one at a
-- time.
-- Returns: presence.updated.
-- Locks: presence as a whole, then the users' rows
create or replace function presence_sweep(p_limit int, p_now timestamptz default null)
returns table (user_id uuid, threads uuid[], body text)
language plpgsql volatile as $$
declare
    v_dead timestamptz := coalesce(p_now, stamp()) - interval '45 s';
    v_users uuid[];
    v_times timestamptz[];
begin
    if not exists (select from presence_nodes n where n.seen_at < v_dead) then
        return;
    end if;
    perform lock_row('presence');
    with dead as (
        select p.user_id, p.node, n.seen_at from presence_nodes n join presence p on p.node = n.node
        where n.seen_at < v_dead limit p_limit
    ), gone as (
        delete from presence p using dead d where p.user_id = d.user_id and p.node = d.node
        returning p.user_id, d.seen_at
    )
    select array_agg(g.user_id), array_agg(g.seen_at) into v_users, v_times
    from (select x.user_id, max(x.seen_at) as seen_at from gone x group by x.user_id) g;
    -- device_poll_sweep deletes nodes that have polling devices.
    delete from presence_nodes n where n.seen_at < v_dead and not exists (select from presence p where p.node = n.node)
        and not exists (select from device_polls d where d.node = n.node);
    return query
    select c.user_id, c.threads, c.body from presence_changes(presence_leave(v_users, v_times)) c where c.is_shared;
end $$;

-- Notifies all nodes of events that are not stored, on a channel of their own: one NOTIFY a payload, each under 8,000
-- bytes and sealed by the node.
create or replace function presence_announce(p_payloads text[]) returns void
language plpgsql volatile as $$
begin
    perform pg_notify((select c.presence from node_channels c where c.is_only), x.payload)
    from unnest(p_payloads) x (payload);
end $$;
