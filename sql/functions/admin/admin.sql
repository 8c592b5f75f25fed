-- Calls of administrators. Each change is recorded in `audit`, in the same transaction. `p_actor` is the name that the
-- administrator gave, `p_request` the id of the request, `p_admin_key` the key of a call that was made with one.

-- Returns: an account as administrators see it.
create or replace function admin_user_json(u users) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'kind', case when u.is_bot then 'bot' else 'person' end, 'username', u.username,
        'name', u.name, 'profile_image', u.profile_image,
        'status_text', u.status_text, 'created_at', rfc3339(u.created_at), 'suspended_at', rfc3339(u.suspended_at),
        'erased_at', rfc3339(u.erased_at), 'has_password', u.password_hash is not null,
        'session_count', (select count(*) from sessions s where s.user_id = u.id),
        'last_used_at', rfc3339((select max(s.last_used_at) from sessions s where s.user_id = u.id)))
$$;

-- Returns: an account, also an erased one.
-- Fails: PY404 user_not_found.
create or replace function admin_user_get(p_user uuid) returns text
language sql stable as $$
    select coalesce((select admin_user_json(u)::text from users u where u.id = p_user), refuse_unknown('user'))
$$;

-- Returns: a page of all accounts, the newest first; with `p_key` only the one of that username (case-folded by the
-- caller).
create or replace function admin_user_list(p_key text, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
begin
    return query
    select admin_user_json(u)::text, 0::bigint, u.id
    from users u where (p_key is null or u.username_key = p_key) and (p_after_id is null or u.id < p_after_id)
    order by u.id desc limit p_limit;
end $$;

-- Creates an account without a session. Without a password it can only be signed in to by an issued session. With
-- `p_is_bot` it is a bot, which has no password.
-- Fails: PY409 username_taken.
create or replace function admin_user_create(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_username text, p_key text, p_name text,
    p_words text[], p_password_hash text, p_is_bot boolean default false
) returns text
language plpgsql volatile as $$
begin
    perform account_insert(p_user, p_username, p_key, p_name, p_words, p_password_hash, p_is_bot);
    perform audit_note(p_actor, p_request, p_admin_key, 'user.create', p_user);
    return admin_user_get(p_user);
end $$;

-- Suspends an account: ends all its sessions and refuses new ones (session_create). With `p_suspended` false it may
-- sign in again. Doing it again changes nothing.
-- Returns: the sessions that ended.
-- Fails: PY404 user_not_found (also when erased).
-- Locks: the user's row, its sessions, then the log
create or replace function admin_user_suspend(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_suspended boolean) returns uuid[]
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_user users;
    v_sessions uuid[] := '{}';
begin
    select * into v_user from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform refuse_unknown('user');
    elsif (v_user.suspended_at is not null) = p_suspended then
        return v_sessions;
    end if;
    update users u set suspended_at = case when p_suspended then v_now end where u.id = p_user;
    perform audit_note(p_actor, p_request, p_admin_key,
        case when p_suspended then 'user.suspend' else 'user.unsuspend' end, p_user);
    if p_suspended then
        v_sessions := account_sign_out(p_user);
    end if;
    return v_sessions;
end $$;

-- Erases an account as account_erase does.
create or replace function admin_user_erase(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_erases_messages boolean) returns uuid[]
language plpgsql volatile as $$
begin
    perform audit_note(p_actor, p_request, p_admin_key, 'user.erase', p_user);
    return account_erase(p_user, p_erases_messages);
end $$;

-- Signs a user in, as session_create.
-- Fails: PY404 user_not_found; PY403 account_suspended; PY422 too_many_sessions.
create or replace function admin_session_create(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_session uuid, p_digest bytea, p_device text, p_count_max int default 100
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
begin
    perform user_require(p_user);
    perform audit_note(p_actor, p_request, p_admin_key, 'session.create', p_user);
    return query select s.account, s.session, s.ended
    from session_create(p_user, p_session, p_digest, p_device, p_count_max) s;
end $$;

-- Returns: a thread, with its last seq and the numbers of what it holds.
-- Fails: PY404 thread_not_found.
create or replace function admin_thread_get(p_thread uuid) returns text
language sql stable as $$
    select coalesce((select thread_json(t)::jsonb || jsonb_build_object('head', thread_head(t.id), 'invited_count',
        (select count(*) from members m where m.thread_id = t.id and m.status = 'invited'), 'owners',
        (select coalesce(jsonb_agg(m.user_id order by m.user_id), '[]') from members m
            where m.thread_id = t.id and m.role = 'owner' and m.status = 'joined'))
        from threads t where t.id = p_thread)::text, refuse_unknown('thread'))
$$;

-- Removes a message for everyone, as message_delete. Removing it again changes nothing.
-- Fails: PY404 thread_not_found, message_not_found.
-- Locks: the thread, then the log
create or replace function admin_message_delete(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_message uuid) returns void
language plpgsql volatile as $$
declare
    v_message messages;
begin
    perform thread_lock(p_thread);
    v_message := message_find(p_thread, p_message);
    if v_message.seq is null then
        perform message_refuse();
    elsif v_message.deleted_at is null then
        perform audit_note(p_actor, p_request, p_admin_key, 'message.delete', v_message.sender_id, p_thread, p_message);
        perform message_tombstone(array[v_message], stamp(), null);
    end if;
end $$;
