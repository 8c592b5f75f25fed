-- Codes by mail. No answer depends on whether an address has an account: the account is not looked up before the mail
-- is sent. The node that sends a code makes it; the database only holds its slow hash. Locks are taken in this order:
-- mail_codes, mails, users.

-- Returns: how long sending a mail is retried, and how long its code is valid afterwards.
create or replace function mail_life() returns interval language sql immutable parallel safe as $$ select interval '10 minutes' $$;

-- Returns: how many attempts a code allows. mail_failures_max is how many failures an address allows a day, over all
-- its codes; mail_asked_max is how many mails a day. An address has at most two valid codes at a time, so 10 failures
-- a day give a guesser a chance of 1 in 50,000 a day, with any number of nodes and codes.
create or replace function mail_tries_max() returns int language sql immutable parallel safe as $$ select 5 $$;

create or replace function mail_failures_max() returns int language sql immutable parallel safe as $$ select 10 $$;

create or replace function mail_asked_max() returns int language sql immutable parallel safe as $$ select 20 $$;

-- Returns: whether a code that expires then, with so many attempts, is still valid.
create or replace function mail_code_is_good(p_expires_at timestamptz, p_tries int, p_now timestamptz) returns boolean
language sql immutable parallel safe as $$
    select coalesce(p_expires_at > p_now, false) and p_tries < mail_tries_max()
$$;

-- Counts an attempt before it is made, so that it counts on every node, and when that node dies. Writes a row for every
-- address, so that the time does not show for which one a code was asked today: most of those have accounts.
-- Returns: the hashes to compare with: of the valid codes, at most two, the one mailed last first.
-- Locks: the address's row in mail_codes
create or replace function mail_code_attempt(p_key text, p_now timestamptz default clock_timestamp()) returns text[]
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_is_new boolean;
    v_hashes text[];
begin
    insert into mail_codes (email_key, counted_from, asked, failed) values (p_key, p_now, 0, 0) on conflict do nothing;
    select * into v_code from mail_codes c where c.email_key = p_key for no key update;
    v_is_new := v_code.counted_from <= p_now - interval '1 day';
    if v_is_new then
        v_code.failed := 0;
    end if;
    v_hashes := case when v_code.failed < mail_failures_max() then
        array(select g.hash from (values
            (v_code.code_hash, v_code.code_expires_at, v_code.code_tries),
            (v_code.first_hash, v_code.first_expires_at, v_code.first_tries)) g (hash, expires_at, tries)
        where mail_code_is_good(g.expires_at, g.tries, p_now)) else '{}' end;
    update mail_codes c set
        counted_from = case when v_is_new then p_now else c.counted_from end,
        asked = case when v_is_new then 0 else c.asked end,
        failed = v_code.failed + (v_hashes <> '{}')::int,
        code_tries = c.code_tries + coalesce(c.code_hash = any (v_hashes), false)::int,
        first_tries = c.first_tries + coalesce(c.first_hash = any (v_hashes), false)::int
    where c.email_key = p_key;
    return v_hashes;
end $$;

-- Uses a code. Using one ends all codes of the address, its pending registration and its failures.
-- Returns: the address's row as it was; null if the code was used or expired meanwhile.
-- Locks: the address's rows in mail_codes and mails
create or replace function mail_code_spend(p_key text, p_hash text, p_now timestamptz default clock_timestamp())
returns mail_codes
language plpgsql volatile as $$
declare
    v_code mail_codes;
begin
    select * into v_code from mail_codes c
    where c.email_key = p_key and (c.code_hash = p_hash and c.code_expires_at > p_now
        or c.first_hash = p_hash and c.first_expires_at > p_now) for no key update;
    if not found then
        return null;
    end if;
    update mail_codes c set
        failed = 0, name = null, words = null, device_name = null, registered_at = null, invitation_id = null,
        code_hash = null, code_email = null, code_expires_at = null,
        first_hash = null, first_email = null, first_expires_at = null, first_tries = 0
    where c.email_key = p_key;
    delete from mails m where m.email_key = p_key and m.kind <> 'replaced';
    return v_code;
end $$;

-- Signs in by the code with this hash. Creates the account if there is none, with the name and the device of the
-- registration. For an account that exists, the device is the one of this call: anybody may register any address.
-- Returns: no row if the code was used or expired meanwhile.
-- Fails: PY403 registration_closed, invitation_required, invitation_invalid (`p_registration` does not allow the new
-- account), and then the code stays as it is.
-- Locks: the address's rows in mail_codes and mails, the invitation, the address's unique key, then as session_create
create or replace function mail_code_use(
    p_key text, p_hash text, p_user uuid, p_session uuid, p_digest bytea, p_device text, p_count_max int default 100,
    p_registration text default 'open', p_now timestamptz default clock_timestamp()
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_user uuid;
begin
    v_code := mail_code_spend(p_key, p_hash, p_now);
    if v_code.email_key is null then
        return;
    end if;
    select u.id into v_user from users u where u.email_key = p_key;
    if v_user is null then
        if v_code.name is null then
            return;
        elsif p_registration = 'closed' then
            perform refuse(403, 'registration_closed',
                'This service does not let people register. Ask its operator for an account.');
        elsif p_registration = 'invited' and v_code.invitation_id is null then
            perform refuse(403, 'invitation_required',
                'This service lets people register by invitation only. Register again with an invitation.');
        elsif p_registration = 'invited' then
            perform invitation_spend(v_code.invitation_id);
        end if;
        insert into users (id, name, email, email_key, created_at)
        values (p_user, v_code.name, case when v_code.code_hash = p_hash then v_code.code_email else v_code.first_email end,
            p_key, stamp());
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(v_code.words) w (word);
        v_user := p_user;
        p_device := coalesce(p_device, v_code.device_name);
    end if;
    return query select s.account, s.session, s.ended
    from session_create(v_user, p_session, p_digest, p_device, p_count_max) s;
end $$;

-- Deletes a user's address everywhere, and the address that the user has asked for, for an erasure. A mail that a relay
-- already has still arrives; its code is invalid.
-- Locks: the addresses' rows in mail_codes and mails, then the user's row and its wish
create or replace function mail_forget(p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_key text := (select u.email_key from users u where u.id = p_user);
    -- Of tries by the username (password_code_attempt).
    v_name_key text := (select '@' || u.username_key from users u where u.id = p_user);
    v_wish text := (select w.email_key from email_wishes w where w.user_id = p_user);
begin
    delete from mail_codes c where c.email_key in (v_key, v_name_key);
    delete from mails m where m.email_key = v_key;
    delete from mails m where m.email_key = v_wish and m.kind = 'confirm' and m.user_id = p_user;
    update users u set email = null, email_key = null where u.id = p_user and u.email_key is not null;
    delete from email_wishes w where w.user_id = p_user;
    delete from email_notices n where n.email_key = v_key;
end $$;
