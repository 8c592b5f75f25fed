-- Calls of administrators. Each change is recorded in `audit`, in the same transaction. `p_actor` is the name that the
-- administrator gave, `p_request` the id of the request, `p_admin_key` the key of a call that was made with one.

-- Returns: an account as administrators see it.
create or replace function admin_user_json(u users) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'kind', case when u.is_bot then 'bot' else 'person' end, 'username', u.username,
        'external_id', u.external_id, 'email', u.email, 'name', u.name, 'profile_image', u.profile_image,
        'status_text', u.status_text, 'custom', u.custom::json, 'created_at', rfc3339(u.created_at),
        'suspended_at', rfc3339(u.suspended_at),
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

-- Returns: a page of all accounts, the newest first; only those with the given username, external id and e-mail
-- address, and of whom a word of the name or the username begins with `p_prefix`. Null for any. Names and addresses
-- are case-folded by the caller.
-- Costs: with a username, an external id or an address an index probe; with a prefix as user_search
create or replace function admin_user_list(
    p_key text, p_external_id text, p_email_key text, p_prefix text, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
declare
    v_ids uuid[];
begin
    if coalesce(p_key, p_external_id, p_email_key) is not null then
        v_ids := array(
            select u.id from users u where u.username_key = p_key
            union all select u.id from users u where u.external_id = p_external_id
            union all select u.id from users u where u.email_key = p_email_key);
    elsif p_prefix is not null then
        v_ids := array(select distinct w.user_id from user_words w
            where w.word >= p_prefix collate "C" and w.word < (p_prefix || U&'\+10FFFF') collate "C"
                and (p_after_id is null or w.user_id < p_after_id)
            order by w.user_id desc limit p_limit);
    end if;
    if v_ids is null then
        return query
        select admin_user_json(u)::text, 0::bigint, u.id
        from users u where p_after_id is null or u.id < p_after_id order by u.id desc limit p_limit;
        return;
    end if;
    return query
    select admin_user_json(u)::text, 0::bigint, u.id
    from users u
    where u.id = any (v_ids) and (p_after_id is null or u.id < p_after_id)
        and (p_key is null or u.username_key = p_key) and (p_external_id is null or u.external_id = p_external_id)
        and (p_email_key is null or u.email_key = p_email_key)
        and (p_prefix is null or exists (select from user_words w where w.user_id = u.id
            and w.word >= p_prefix collate "C" and w.word < (p_prefix || U&'\+10FFFF') collate "C"))
    order by u.id desc limit p_limit;
end $$;

-- Creates the account with an external id, or changes it: what `p_changes` has, as account_update. Without an external id
-- changes the account `p_user`. A new account has the id `p_user`, and the name `p_name_or_else` if `p_changes` has none.
-- What is set already changes nothing. `p_words` are those of the directory for the name and username that result.
-- `p_is_bot` is null where the caller does not say.
-- Returns: whether the account was created, and the account.
-- Fails: PY404 user_not_found; PY409 username_taken, email_taken; PY422 (kind: it never changes); as account_update.
-- Locks: the unique key of the external id, then as account_update
create or replace function admin_user_put(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_external_id text, p_name_or_else text, p_changes json,
    p_words text[], p_is_bot boolean
) returns table (created boolean, account text)
language plpgsql volatile as $$
declare
    v_changes jsonb := p_changes;
    v_user users;
    v_before users;
begin
    created := false;
    if p_external_id is not null then
        insert into users as u (id, external_id, name, is_bot, created_at)
        values (p_user, p_external_id, coalesce(v_changes ->> 'name', p_name_or_else), nullif(p_is_bot, false), stamp())
        on conflict (external_id) where external_id is not null do nothing
        returning u.* into v_user;
        created := found;
    end if;
    if created then
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
        perform audit_note(p_actor, p_request, p_admin_key, 'user.create', p_user);
        v_changes := v_changes - 'name';
    else
        select * into v_user from users u
        where (u.external_id = p_external_id or (p_external_id is null and u.id = p_user)) and u.erased_at is null;
        if not found then
            perform refuse_unknown('user');
        elsif p_is_bot <> coalesce(v_user.is_bot, false) then
            perform refuse(422, 'invalid', 'The kind of an account cannot change.', 'kind');
        end if;
    end if;
    if v_changes <> '{}' then
        v_before := v_user;
        perform account_update(v_user.id, v_changes::json, p_words, true);
        select * into v_user from users u where u.id = v_before.id;
        if not created and v_user::text <> v_before::text then
            perform audit_note(p_actor, p_request, p_admin_key, 'user.update', v_user.id);
        end if;
    end if;
    account := admin_user_get(v_user.id);
    return next;
end $$;

-- Returns: what the account has unread, as its inbox counts it.
-- Fails: PY404 user_not_found.
-- Costs: as user_threads
create or replace function admin_user_unread(p_user uuid) returns text
language plpgsql stable as $$
begin
    perform user_require(p_user);
    return (select json_build_object('unread_total', coalesce(sum(t.unread), 0)::bigint, 'mention_total',
            coalesce(sum(mention_count(m, t.own_seq)) filter (where t.head > t.own_seq), 0)::bigint)::text
        from user_threads(p_user) t
        join members m on m.thread_id = t.thread_id and m.user_id = p_user);
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
