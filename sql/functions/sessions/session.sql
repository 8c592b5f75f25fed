-- Sessions. A session is a device.

-- Signs an account in on one more device. If the account then has more than `p_count_max` sessions, those unused for
-- longest end (`ended`). A bot's sessions never end by this: they are refused beyond that number.
-- Fails: PY401 wrong_credentials (the account was erased meanwhile); PY403 account_suspended; PY422 too_many_sessions.
-- Locks: the user's row, so that simultaneous sign-ins of one account count its sessions in turn; then as session_end
create or replace function session_create(
    p_user uuid, p_session uuid, p_digest bytea, p_device text, p_count_max int default 100
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_session sessions;
    v_suspended_at timestamptz;
    v_is_bot boolean;
begin
    select u.suspended_at, u.is_bot into v_suspended_at, v_is_bot from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform refuse(401, 'wrong_credentials',
            'There is no such account, or it was erased. Sign in with another account.');
    elsif v_suspended_at is not null then
        perform refuse(403, 'account_suspended', 'This account is suspended. Contact the operator of the service.');
    elsif v_is_bot and (select count(*) from (select from sessions s where s.user_id = p_user limit p_count_max) x) >= p_count_max then
        perform refuse(422, 'too_many_sessions',
            format('A bot may have at most %s sessions. End one first.', p_count_max));
    end if;
    insert into sessions (id, user_id, token_digest, device_name, created_at, last_used_at)
    values (p_session, p_user, p_digest, p_device, stamp(), stamp())
    returning * into v_session;
    account := account_get(p_user);
    session := session_json(v_session)::text;
    ended := session_make_room(p_user, p_session, p_count_max);
    return next;
end $$;

-- Ends the sessions of an account that are unused for longest, except `p_session`, until `p_count_max` are left. At
-- most 500 a call: an account that had more before there was a bound reaches it after several sign-ins.
-- Returns: the sessions that ended.
-- Locks: as session_end; the caller holds the user's row
-- Costs: a look at the account's sessions
create or replace function session_make_room(p_user uuid, p_session uuid, p_count_max int) returns uuid[]
language plpgsql volatile as $$
declare
    v_excess int := (select count(*) - p_count_max
        from (select from sessions s where s.user_id = p_user limit p_count_max + 500) x);
    v_ids uuid[] := '{}';
begin
    if v_excess > 0 then
        v_ids := array(select s.id from sessions s where s.user_id = p_user and s.id <> p_session
            order by s.last_used_at, s.id limit v_excess);
        perform session_end(v_ids);
    end if;
    return v_ids;
end $$;

-- Returns: the session with this token digest, and the position of the log at which it was read: later events correct
-- a cached answer. No row for a session that was not used for `p_idle_days`, unless it is a bot's; it may still exist
-- for a while (session_sweep).
create or replace function session_find(p_digest bytea, p_idle_days int default 90)
returns table (session_id uuid, user_id uuid, pos bigint)
language sql stable as $$
    select s.id, s.user_id, log_head() from sessions s
    where s.token_digest = p_digest and (s.last_used_at > now() - make_interval(days => p_idle_days)
        or (select u.is_bot from users u where u.id = s.user_id))
$$;

-- Returns: a page of the account's devices, the newest first.
create or replace function session_list(p_user uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select session_json(s)::text, 0::bigint, s.id
    from sessions s
    where s.user_id = p_user and (p_after_id is null or s.id < p_after_id)
    order by s.id desc
    limit p_limit
$$;

-- Ends sessions: their tokens are invalid when this commits, and an event notifies every node. `p_actor` is the user who
-- ends them; null for the server.
-- Returns: how many sessions ended.
-- Locks: the sessions' rows by id, their push targets, then the log
create or replace function session_end(p_sessions uuid[], p_actor uuid default null) returns int
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_head bigint;
    v_ids uuid[];
    v_users uuid[];
    v_count int;
begin
    perform from sessions s where s.id = any (p_sessions) order by s.id for update;
    with ended as (delete from sessions s where s.id = any (p_sessions) returning s.id, s.user_id)
    select array_agg(e.id order by e.id), array_agg(e.user_id order by e.id) into v_ids, v_users from ended e;
    v_count := coalesce(cardinality(v_ids), 0);
    if v_count = 0 then
        return 0;
    end if;
    delete from device_marks d where d.session_id = any (v_ids);
    delete from attachment_receipts r where r.session_id = any (v_ids);
    perform push_target_forget(v_ids);
    delete from device_polls d where d.session_id = any (v_ids);
    perform undelivered_recheck(null, u.id) from (select distinct i.id from unnest(v_users) i (id) order by i.id) u;
    v_head := log_begin();
    insert into events (pos, at, type, user_id, session_id, actor_id, is_change, body)
    select v_head + e.number, v_now, 'session.revoked', e.user_id, e.session_id, p_actor, true,
        event_json('session.revoked', null, v_now, json_build_object('session_id', e.session_id)::text)
    from unnest(v_ids, v_users) with ordinality e (session_id, user_id, number);
    perform log_announce(v_head + v_count);
    return v_count;
end $$;

-- Signs a device out.
-- Fails: PY404 session_not_found (also for another user's session).
-- Locks: as session_end
create or replace function session_delete(p_user uuid, p_session uuid) returns void
language plpgsql volatile as $$
begin
    perform from sessions s where s.id = p_session and s.user_id = p_user for update;
    if not found or session_end(array[p_session], p_user) = 0 then
        perform refuse(404, 'session_not_found', 'You have no such session.');
    end if;
end $$;

-- Signs out the account's devices except one, at most `p_limit` of them, in no order: with an order, each call would
-- read all sessions that are left.
-- Returns: the sessions that ended.
-- Locks: as session_end
create or replace function session_delete_others(p_user uuid, p_session uuid, p_limit int) returns uuid[]
language plpgsql volatile as $$
declare
    v_ids uuid[] := array(select s.id from sessions s where s.user_id = p_user and s.id <> p_session limit p_limit);
begin
    perform session_end(v_ids, p_user);
    return v_ids;
end $$;

-- Of the `p_limit` sessions after `p_after`, by id, ends those that were not used for `p_idle_days`, but not those of
-- bots. Walks the table:
-- an index on `last_used_at` would make each recorded use of a session write to all indexes, for something that is
-- needed once in months. Rows locked by others are skipped: such a session is in use, or another node is ending it.
-- Returns: where to continue, null at the end, and how many sessions ended.
-- Locks: as session_end
create or replace function session_sweep(p_after uuid, p_limit int, p_idle_days int)
returns table (next uuid, ended_count int)
language plpgsql volatile as $$
declare
    v_ids uuid[] := array(select s.id from sessions s
        where s.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') order by s.id limit p_limit);
begin
    if cardinality(v_ids) = p_limit then
        next := v_ids[p_limit];
    end if;
    ended_count := session_end(array(select s.id from sessions s
        where s.id = any (v_ids) and s.last_used_at <= now() - make_interval(days => p_idle_days)
            and (select u.is_bot from users u where u.id = s.user_id) is not true
        order by s.id for update skip locked));
    return next;
end $$;

-- Records when sessions were last used. Nodes send what they saw every few minutes, so that requests do not write.
-- Locks: the sessions' rows by id
create or replace function session_touch(p_sessions uuid[], p_times timestamptz[]) returns void
language sql volatile as $$
    with seen as (
        select s.id, u.at from unnest(p_sessions, p_times) u (id, at) join sessions s on s.id = u.id
        order by s.id for no key update of s
    )
    update sessions s set last_used_at = date_trunc('milliseconds', n.at)
    from seen n where s.id = n.id and n.at > s.last_used_at
$$;
