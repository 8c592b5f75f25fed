-- Sessions: a session is a device.

-- Signs an account in on one more device.
-- Fails: PY401 wrong_credentials (the account was erased meanwhile); PY403 account_suspended.
-- locks: the user's row (shared, so that who ends all sessions knows of this one)
create or replace function session_create(p_user uuid, p_session uuid, p_digest bytea, p_device text)
returns table (account text, session text)
language plpgsql volatile as $$
declare
    v_session sessions;
    v_suspended_at timestamptz;
begin
    select u.suspended_at into v_suspended_at from users u where u.id = p_user and u.erased_at is null for share;
    if not found then
        raise exception using errcode = 'PY401', message = 'wrong_credentials', detail = 'You can''t sign in like this.';
    elsif v_suspended_at is not null then
        raise exception using errcode = 'PY403', message = 'account_suspended', detail = 'This account is suspended.';
    end if;
    insert into sessions (id, user_id, token_digest, device_name, created_at, last_used_at)
    values (p_session, p_user, p_digest, p_device, stamp(), stamp())
    returning * into v_session;
    return query select account_get(p_user), session_json(v_session)::text;
end $$;

-- Whose token this is, and at which position of the log that was read: what comes after it corrects a cached answer.
create or replace function session_find(p_digest bytea) returns table (session_id uuid, user_id uuid, pos bigint)
language sql stable as $$
    select s.id, s.user_id, log_head() from sessions s where s.token_digest = p_digest
$$;

-- The account's devices, the newest first.
create or replace function session_list(p_user uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select session_json(s)::text, 0::bigint, s.id
    from sessions s
    where s.user_id = p_user and (p_after_id is null or s.id < p_after_id)
    order by s.id desc
    limit p_limit
$$;

-- Signs a device out: its token is dead when this commits, and every node hears of it.
-- Fails: PY404 session_not_found (also for somebody else's).
-- locks: the session's row, then the log
create or replace function session_delete(p_user uuid, p_session uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_head bigint;
begin
    delete from sessions s where s.id = p_session and s.user_id = p_user;
    if not found then
        raise exception using errcode = 'PY404', message = 'session_not_found', detail = 'You have no such session.';
    end if;
    delete from device_marks d where d.session_id = p_session;
    perform undelivered_recheck(null, p_user);
    v_head := log_begin();
    insert into events (pos, at, type, user_id, session_id, body)
    values (v_head + 1, v_now, 'session.revoked', p_user, p_session,
        event_json('session.revoked', null, v_now, json_build_object('session_id', p_session)::text));
    perform log_announce(v_head + 1);
end $$;

-- Notes when sessions were last used: a node sends what it saw, now and then, so that no request writes.
-- locks: the sessions' rows, by id
create or replace function session_touch(p_sessions uuid[], p_times timestamptz[]) returns void
language sql volatile as $$
    with seen as (
        select s.id, u.at from unnest(p_sessions, p_times) u (id, at) join sessions s on s.id = u.id
        order by s.id for no key update of s
    )
    update sessions s set last_used_at = date_trunc('milliseconds', n.at)
    from seen n where s.id = n.id and n.at > s.last_used_at
$$;
