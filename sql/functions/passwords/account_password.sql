-- Passwords: reading and replacing a stored hash. Nodes compute hashes outside of any transaction. Therefore what was
-- checked before is compared again under the lock.

-- Returns: what signing in by password compares with; no row for an unknown name. One of the two keys is null.
create or replace function account_credentials(p_username_key text, p_email_key text)
returns table (user_id uuid, password_hash text)
language sql stable as $$
    select u.id, u.password_hash from users u where u.username_key = p_username_key
    union all
    select u.id, u.password_hash from users u where u.email_key = p_email_key
$$;

-- Returns: what a change of the password compares with, and by which name its tries are counted: nulls for an account
-- that signs in another way, no row for an erased one.
create or replace function account_password(p_user uuid) returns table (name_key text, password_hash text)
language sql stable as $$
    select coalesce(u.username_key, u.email_key), u.password_hash from users u where u.id = p_user and u.erased_at is null
$$;

-- Signs in by the password that has this hash, as session_create. `p_new_hash`, unless null, replaces the hash: it is
-- the same password at today's cost.
-- Returns: no row if the account has another hash by now; then nothing was changed.
-- Fails: PY403 account_suspended.
-- Locks: as session_create
create or replace function account_sign_in(
    p_user uuid, p_hash text, p_new_hash text, p_session uuid, p_digest bytea, p_device text, p_count_max int
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
begin
    perform from users u where u.id = p_user and u.password_hash = p_hash for no key update;
    if not found then
        return;
    end if;
    return query select s.account, s.session, s.ended from session_create(p_user, p_session, p_digest, p_device, p_count_max) s;
    if p_new_hash is not null then
        update users u set password_hash = p_new_hash where u.id = p_user;
    end if;
end $$;

-- Replaces the password that has this hash, and signs out the account's other devices, at most `p_limit` of them.
-- Returns: the sessions that ended; null if the account has another hash by now, and then nothing was changed.
-- Fails: PY401 invalid_token (the caller's session has ended meanwhile).
-- Locks: the user's row, then as session_end
create or replace function account_password_change(
    p_user uuid, p_session uuid, p_hash text, p_new_hash text, p_limit int
) returns uuid[]
language plpgsql volatile as $$
begin
    update users u set password_hash = p_new_hash where u.id = p_user and u.password_hash = p_hash;
    if not found then
        return null;
    end if;
    perform from sessions s where s.id = p_session and s.user_id = p_user for key share;
    if not found then
        perform caller_refuse();
    end if;
    return session_delete_others(p_user, p_session, p_limit);
end $$;
