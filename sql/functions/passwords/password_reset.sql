-- Forgotten passwords. A mailed code, or a code that the operator creates, sets a new one. A try costs the same for every
-- name, whether it has an account, an address and a code or not.

-- Returns: how many tries the operator's code allows.
create or replace function password_reset_tries_max() returns int language sql immutable parallel safe as $$ select 5 $$;

-- Makes the code with this digest valid for 24 hours and one use. An earlier one of the account ends.
-- Returns: when it expires.
-- Fails: PY404 user_not_found (also when erased); PY409 no_password (the account cannot sign in by password).
-- Locks: the user's row, its reset
create or replace function password_reset_create(p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_digest bytea) returns text
language plpgsql volatile as $$
declare
    v_user users;
    v_expires_at timestamptz := stamp() + interval '24 hours';
begin
    select * into v_user from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform refuse_unknown('user');
    elsif v_user.is_bot or coalesce(v_user.username_key, v_user.email_key) is null then
        perform refuse(409, 'no_password',
            'This account has neither a username nor an e-mail address, or is a bot, so it cannot sign in by password.');
    end if;
    insert into password_resets (user_id, code_digest, expires_at) values (p_user, p_digest, v_expires_at)
    on conflict (user_id) do update set code_digest = excluded.code_digest, expires_at = excluded.expires_at, tries = 0;
    perform audit_note(p_actor, p_request, p_admin_key, 'password_reset.create', p_user);
    return rfc3339(v_expires_at);
end $$;

-- Counts a try of the operator's code before it is made, so that it counts on every node. One of the two names is null.
-- Every name gets a row, so that the time does not show which have an account or a code.
-- Returns: the account, if the code is right; null otherwise.
-- Locks: the reset's row
create or replace function password_reset_try(
    p_username_key text, p_email_key text, p_digest bytea, p_now timestamptz default clock_timestamp()
) returns uuid
language plpgsql volatile as $$
declare
    v_user uuid := coalesce((select u.id from users u where u.username_key = p_username_key),
        (select u.id from users u where u.email_key = p_email_key));
    v_reset password_resets;
begin
    insert into password_resets as r (user_id, tries, expires_at)
    values (coalesce(v_user, md5(coalesce(p_username_key, p_email_key))::uuid), 1, p_now + interval '1 hour')
    on conflict (user_id) do update set tries = least(r.tries, password_reset_tries_max()) + 1
    returning * into v_reset;
    return case when v_reset.code_digest = p_digest and v_reset.expires_at > p_now
        and v_reset.tries <= password_reset_tries_max() then v_user end;
end $$;

-- Deletes codes that have expired, and tries of names without one, at most `p_limit`. Runs on every node.
-- Returns: how many were deleted.
-- Locks: rows that are not locked by others
create or replace function password_reset_sweep(p_limit int) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from password_resets r where r.user_id = any (array(
        select o.user_id from password_resets o where o.expires_at < clock_timestamp() order by o.expires_at limit p_limit
        for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end $$;

-- Sets the password, ends all sessions of the account and the operator's code, and signs in on one device.
-- Fails: as session_create.
-- Locks: the user's row, its reset, then as session_end
create or replace function password_set(
    p_user uuid, p_new_hash text, p_session uuid, p_digest bytea, p_device text, p_count_max int
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_ended uuid[];
begin
    update users u set password_hash = p_new_hash where u.id = p_user and u.erased_at is null;
    delete from password_resets r where r.user_id = p_user;
    v_ended := account_sign_out(p_user);
    return query select s.account, s.session, v_ended || s.ended
    from session_create(p_user, p_session, p_digest, p_device, p_count_max) s;
end $$;

-- Sets the password by the operator's code, as password_set.
-- Returns: no row if the code was used, replaced or expired meanwhile.
-- Locks: as password_set
create or replace function password_set_by_reset(
    p_user uuid, p_code_digest bytea, p_new_hash text, p_session uuid, p_digest bytea, p_device text, p_count_max int
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
begin
    perform from users u where u.id = p_user for no key update;
    perform from password_resets r
    where r.user_id = p_user and r.code_digest = p_code_digest and r.expires_at > clock_timestamp() for update;
    if not found then
        return;
    end if;
    return query select s.* from password_set(p_user, p_new_hash, p_session, p_digest, p_device, p_count_max) s;
end $$;

-- Counts a try of a mailed code by the username, as mail_code_attempt does by the address. A name without an account or
-- an address has a row of its own, which no address can have.
-- Returns: the key of the address, or of that row, and the hashes to compare with.
-- Locks: the row in mail_codes
create or replace function password_code_attempt(p_username_key text, p_now timestamptz default clock_timestamp())
returns table (email_key text, hashes text[])
language plpgsql volatile as $$
begin
    email_key := coalesce((select u.email_key from users u where u.username_key = p_username_key), '@' || p_username_key);
    hashes := mail_code_attempt(email_key, p_now);
    return next;
end $$;

-- Sets the password of the address's account by the mailed code with this hash, as password_set.
-- Returns: no row if the address has no account, or the code was used or expired meanwhile.
-- Locks: the address's rows in mail_codes and mails, then as password_set
create or replace function password_set_by_code(
    p_key text, p_hash text, p_new_hash text, p_session uuid, p_digest bytea, p_device text, p_count_max int
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_user uuid := (select u.id from users u where u.email_key = p_key);
begin
    if v_user is null or (mail_code_spend(p_key, p_hash)).email_key is null then
        return;
    end if;
    return query select s.* from password_set(v_user, p_new_hash, p_session, p_digest, p_device, p_count_max) s;
end $$;
