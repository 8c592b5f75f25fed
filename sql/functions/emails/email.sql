-- The e-mail address of an account: asking for one, confirming it by a mailed code, giving it up. No answer depends on
-- whether an address has an account.

-- Asks for an address: a code is mailed to it, unless it is another account's by the time the mail is sent (mail_claim).
-- An earlier wish of the account ends. Does the same work for every address.
-- Fails: PY401 invalid_token (the account was erased meanwhile).
-- Locks: the address's rows in mail_codes and mails, the user's row, its wish
create or replace function account_email_ask(
    p_mail uuid, p_user uuid, p_email text, p_key text, p_now timestamptz default stamp()
) returns void
language plpgsql volatile as $$
begin
    perform mail_ask(p_mail, p_email, p_key, null, null, null, null, 'confirm', p_user, p_now);
    perform from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform caller_refuse();
    end if;
    insert into email_wishes (user_id, email, email_key, asked_at) values (p_user, p_email, p_key, p_now)
    on conflict (user_id) do update set email = excluded.email, email_key = excluded.email_key, asked_at = excluded.asked_at;
end $$;

-- Returns: the address that an account has asked for last; null for none.
create or replace function account_email_wish(p_user uuid) returns text
language plpgsql stable as $$
begin
    return (select w.email from email_wishes w where w.user_id = p_user);
end $$;

-- Makes the address of the wish the account's, by the mailed code with this hash. The owner of its earlier address is
-- notified by mail.
-- Returns: the account; null if the code was used or expired meanwhile, if the account does not ask for the address any
-- more, or if it is another account's. Then nothing was changed.
-- Fails: PY401 invalid_token (the account was erased meanwhile).
-- Locks: the address's rows in mail_codes and mails, the user's row, its wish, the address's unique key
create or replace function account_email_confirm(p_mail uuid, p_user uuid, p_key text, p_hash text) returns text
language plpgsql volatile as $$
declare
    v_user users;
    v_code mail_codes;
begin
    if exists (select from users u where u.email_key = p_key and u.id <> p_user)
        or not exists (select from email_wishes w where w.user_id = p_user and w.email_key = p_key) then
        return null;
    end if;
    v_code := mail_code_spend(p_key, p_hash);
    if v_code.email_key is null then
        return null;
    end if;
    select * into v_user from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform caller_refuse();
    end if;
    delete from email_wishes w where w.user_id = p_user;
    update users u set email_key = p_key,
        email = case when v_code.code_hash = p_hash then v_code.code_email else v_code.first_email end
    where u.id = p_user;
    if v_user.email_key <> p_key then
        perform mail_queue(p_mail, v_user.email, v_user.email_key, 'replaced', p_user);
    end if;
    return account_get(p_user);
-- Another account got the address a moment ago.
exception when unique_violation then
    return null;
end $$;

-- Removes the account's address, and notifies its owner by mail. An account without an address stays as it is.
-- Fails: PY409 email_needed (the account signs in by its address only).
-- Locks: the user's row, its wish, the address's row in mails
create or replace function account_email_delete(p_mail uuid, p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_user users;
begin
    select * into v_user from users u where u.id = p_user and u.erased_at is null for no key update;
    if not found then
        perform caller_refuse();
    end if;
    delete from email_wishes w where w.user_id = p_user;
    if v_user.email_key is null then
        return;
    elsif v_user.external_id is null and (v_user.username_key is null or v_user.password_hash is null) then
        perform refuse(409, 'email_needed',
            'This account signs in by its e-mail address only. Replace the address instead.');
    end if;
    update users u set email = null, email_key = null where u.id = p_user;
    perform mail_queue(p_mail, v_user.email, v_user.email_key, 'replaced', p_user);
end $$;

-- Deletes the wishes of a day ago, at most `p_limit`: their codes have expired. Deletes as many notices of a day ago.
-- Returns: how many of the kind that has more were deleted.
-- Locks: rows that are not locked by others
create or replace function email_wish_sweep(p_limit int, p_now timestamptz default clock_timestamp()) returns int
language plpgsql volatile as $$
declare
    v_count int;
    v_notice_count int;
begin
    delete from email_notices n where n.email_key = any (array(
        select o.email_key from email_notices o where o.at < p_now - interval '1 day' order by o.at limit p_limit
        for update skip locked));
    get diagnostics v_notice_count = row_count;
    delete from email_wishes w where w.user_id = any (array(
        select o.user_id from email_wishes o where o.asked_at < p_now - interval '1 day' order by o.asked_at limit p_limit
        for update skip locked));
    get diagnostics v_count = row_count;
    return greatest(v_count, v_notice_count);
end $$;
