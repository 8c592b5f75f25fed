-- Codes by mail. An answer never depends on whether an address has an account: who asks is not looked up before the mail is
-- sent. A code is made by the node that sends it, and only its slow hash is ever here.
-- Locks are taken in this order: mail_codes, mails, users.

-- How long a mail is tried to be sent, and how long its code is good from then on.
create or replace function mail_life() returns interval language sql immutable parallel safe as $$ select interval '10 minutes' $$;

-- How often a code may be tried; how many failures an address has a day, over all its codes; how many mails.
-- An address has at most two codes that are good at a time, so 10 failures a day are a chance of 1 in 50,000 a day for a
-- guesser, however many nodes and codes.
create or replace function mail_tries_max() returns int language sql immutable parallel safe as $$ select 5 $$;
create or replace function mail_failures_max() returns int language sql immutable parallel safe as $$ select 10 $$;
create or replace function mail_asked_max() returns int language sql immutable parallel safe as $$ select 20 $$;

-- Whether a code of this age, tried so often, can still be used.
create or replace function mail_code_is_good(p_expires_at timestamptz, p_tries int, p_now timestamptz) returns boolean
language sql immutable parallel safe as $$
    select coalesce(p_expires_at > p_now, false) and p_tries < mail_tries_max()
$$;

-- Has a code mailed to an address; with `p_name` (and the directory's words for it) an account is made when it is used.
-- The first registration stays for 20 minutes, as long as it may take until its mail is sent and the code in it expires.
-- Anybody may ask for any address, so the last to ask must not decide what the account of the first is called. A request
-- without a name goes on with the registration that there is.
-- The same work whoever is asking for whatever address. Above the day's number of mails nothing is sent.
-- locks: the address's rows in mail_codes and mails
create or replace function mail_ask(
    p_mail uuid, p_email text, p_key text, p_name text, p_words text[], p_device text, p_now timestamptz default stamp()
) returns void
language plpgsql volatile as $$
declare
    v_code mail_codes;
begin
    insert into mail_codes as c (email_key, counted_from, asked, failed) values (p_key, p_now, 1, 0)
    on conflict (email_key) do update set
        counted_from = case when c.counted_from > p_now - interval '1 day' then c.counted_from else p_now end,
        asked = case when c.counted_from > p_now - interval '1 day' then least(c.asked + 1, mail_asked_max() + 1) else 1 end,
        failed = case when c.counted_from > p_now - interval '1 day' then c.failed else 0 end
    returning c.* into v_code;
    update mail_codes c set name = p_name, words = p_words, device_name = p_device, registered_at = p_now
    where c.email_key = p_key and p_name is not null
        and not coalesce(v_code.name is not null and v_code.registered_at > p_now - 2 * mail_life(), false);
    if v_code.asked <= mail_asked_max() then
        insert into mails as m (id, email_key, email, asked_at, due_at) values (p_mail, p_key, p_email, p_now, p_now)
        on conflict (email_key) do update set
            id = excluded.id, email = excluded.email, asked_at = excluded.asked_at, due_at = excluded.due_at, attempt = 0;
    end if;
end $$;

-- Takes the next mail that is due; no row when none is. `outcome`: `send`, and nobody else takes it for `p_lease_s` seconds;
-- or it is gone: `expired`, its time being up, or `withheld`, there being nobody to sign in or too many failures.
-- `email` is the account's own, if there is one.
-- locks: the mail's row; those that others have in hand are skipped
create or replace function mail_claim(p_lease_s int, p_now timestamptz default clock_timestamp())
returns table (outcome text, mail uuid, attempt int, email text, registers boolean)
language plpgsql volatile as $$
declare
    v_mail mails;
    v_code mail_codes;
    v_email text;
begin
    select * into v_mail from mails m where m.due_at <= p_now order by m.due_at limit 1 for update skip locked;
    if not found then
        return;
    end if;
    mail := v_mail.id;
    select c.* into v_code from mail_codes c where c.email_key = v_mail.email_key;
    select u.email into v_email from users u where u.email_key = v_mail.email_key;
    outcome := case
        when v_mail.asked_at + mail_life() <= p_now then 'expired'
        when v_code.failed >= mail_failures_max() or coalesce(v_email, v_code.name) is null then 'withheld'
        else 'send' end;
    if outcome = 'send' then
        update mails m set attempt = m.attempt + 1, due_at = p_now + make_interval(secs => p_lease_s) where m.id = v_mail.id;
        attempt := v_mail.attempt + 1;
        email := coalesce(v_email, v_mail.email);
        registers := v_email is null;
    else
        delete from mails m where m.id = v_mail.id;
    end if;
    return next;
end $$;

-- Makes a code good for the address, before it is sent to `p_email`. Of those that are good already the one mailed first
-- stays so, and any other does not: a stranger who asks for more can't take the owner's away. False if the mail is another's
-- meanwhile, or nobody's: then it must not be sent. The lease begins anew.
-- locks: the address's rows in mail_codes and mails
create or replace function mail_code_put(
    p_mail uuid, p_attempt int, p_email text, p_hash text, p_lease_s int, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql volatile as $$
declare
    v_key text := (select m.email_key from mails m where m.id = p_mail and m.attempt = p_attempt);
    v_code mail_codes;
begin
    select * into v_code from mail_codes c where c.email_key = v_key for no key update;
    update mails m set due_at = p_now + make_interval(secs => p_lease_s)
    where m.id = p_mail and m.attempt = p_attempt and m.email_key = v_key;
    if not found then
        return false;
    end if;
    if not mail_code_is_good(v_code.first_expires_at, v_code.first_tries, p_now) then
        v_code.first_hash := v_code.code_hash;
        v_code.first_email := v_code.code_email;
        v_code.first_expires_at := v_code.code_expires_at;
        v_code.first_tries := v_code.code_tries;
    end if;
    update mail_codes c set
        first_hash = v_code.first_hash, first_email = v_code.first_email,
        first_expires_at = v_code.first_expires_at, first_tries = v_code.first_tries,
        code_hash = p_hash, code_email = p_email, code_expires_at = p_now + mail_life(), code_tries = 0
    where c.email_key = v_key;
    return found;
end $$;

-- Says how a sending ended: for good (`p_again_s` is null), or to be tried again after so many seconds. False if it won't be:
-- because the code's life would be over, or since the mail is another's meanwhile.
-- locks: the mail's row
create or replace function mail_settle(
    p_mail uuid, p_attempt int, p_again_s int, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql volatile as $$
begin
    update mails m set due_at = p_now + make_interval(secs => p_again_s)
    where m.id = p_mail and m.attempt = p_attempt and m.asked_at + mail_life() > p_now + make_interval(secs => p_again_s);
    if found then
        return true;
    end if;
    delete from mails m where m.id = p_mail and m.attempt = p_attempt;
    return false;
end $$;

-- What a code is to be compared with: the hashes of the codes that are good, two at most, the one mailed last before the one
-- mailed first. The try is counted before it is made, so that it counts on whatever node, and if that dies. An address that
-- was asked for pays the same write, good code or not.
-- locks: the address's row in mail_codes
create or replace function mail_code_attempt(p_key text, p_now timestamptz default clock_timestamp()) returns text[]
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_is_new boolean;
    v_hashes text[];
begin
    select * into v_code from mail_codes c where c.email_key = p_key for no key update;
    if not found then
        return '{}';
    end if;
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

-- The same for nodes of the version before, which know of one code: the one mailed last.
create or replace function mail_code_try(p_key text, p_now timestamptz default clock_timestamp()) returns text
language sql volatile as $$
    select (mail_code_attempt(p_key, p_now))[1]
$$;

-- Signs in by the code with this hash, and makes the account if there is none, with the name and the device of the
-- registration. The device of an account that there was is what the call says: anybody may register any address. No row if
-- the code was used meanwhile, or is good no more: each is good once, and with it go the others of the address.
-- locks: the address's rows in mail_codes and mails, then the address's unique key, then as session_create
-- The one with fewer arguments would make a call that leaves out the last ambiguous.
drop function if exists mail_code_use(text, text, uuid, uuid, bytea, text, timestamptz);
create or replace function mail_code_use(
    p_key text, p_hash text, p_user uuid, p_session uuid, p_digest bytea, p_device text, p_count_max int default 100,
    p_now timestamptz default clock_timestamp()
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_user uuid;
begin
    select * into v_code from mail_codes c
    where c.email_key = p_key and (c.code_hash = p_hash and c.code_expires_at > p_now
        or c.first_hash = p_hash and c.first_expires_at > p_now) for no key update;
    if not found then
        return;
    end if;
    update mail_codes c set
        failed = 0, name = null, words = null, device_name = null, registered_at = null,
        code_hash = null, code_email = null, code_expires_at = null,
        first_hash = null, first_email = null, first_expires_at = null, first_tries = 0
    where c.email_key = p_key;
    delete from mails m where m.email_key = p_key;
    select u.id into v_user from users u where u.email_key = p_key;
    if v_user is null then
        if v_code.name is null then
            return;
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

-- Forgets addresses whose day is over, with an hour for mails under way; gives how many of at most `p_limit`.
-- locks: their rows in mail_codes; those that others have in hand are skipped
create or replace function mail_sweep(p_limit int, p_now timestamptz default clock_timestamp()) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from mail_codes c where c.email_key in (
        select o.email_key from mail_codes o
        where o.counted_from <= p_now - interval '25 hours' and not coalesce(o.code_expires_at > p_now, false)
        order by o.counted_from limit p_limit for update skip locked);
    get diagnostics v_count = row_count;
    return v_count;
end $$;

-- Takes a user's address out of all that holds it: for erasure. Mail to it that is on its way to a relay still arrives, and
-- its code is no good.
-- locks: the address's rows in mail_codes and mails, then the user's row
create or replace function mail_forget(p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_key text := (select u.email_key from users u where u.id = p_user);
begin
    delete from mail_codes c where c.email_key = v_key;
    delete from mails m where m.email_key = v_key;
    update users u set email = null, email_key = null where u.id = p_user and u.email_key is not null;
end $$;
