-- Codes by mail. An answer never depends on whether an address has an account: who asks is not looked up before the mail is
-- sent. A code is made by the node that sends it, and only its slow hash is ever here.
-- Locks are taken in this order: mail_codes, mails, users.

-- How long a mail is tried to be sent, and how long its code is good from then on.
create or replace function mail_life() returns interval language sql immutable parallel safe as $$ select interval '10 minutes' $$;

-- How often a code may be tried; how many failures an address has a day, over all its codes; how many mails.
-- 25 failures a day are a chance of 1 in 40,000 a day for who guesses without pause, however many nodes and codes.
create or replace function mail_tries_max() returns int language sql immutable parallel safe as $$ select 5 $$;
create or replace function mail_failures_max() returns int language sql immutable parallel safe as $$ select 25 $$;
create or replace function mail_asked_max() returns int language sql immutable parallel safe as $$ select 20 $$;

-- Has a code mailed to an address; with `p_name` (and the directory's words for it) an account is made when it is used.
-- The same work whoever is asking for whatever address. Above the day's number of mails nothing is sent.
-- locks: the address's rows in mail_codes and mails
create or replace function mail_ask(
    p_mail uuid, p_email text, p_key text, p_name text, p_words text[], p_device text, p_now timestamptz default stamp()
) returns void
language plpgsql volatile as $$
declare
    v_asked int;
begin
    insert into mail_codes as c (email_key, counted_from, asked, failed, name, words, device_name)
    values (p_key, p_now, 1, 0, p_name, p_words, p_device)
    on conflict (email_key) do update set
        counted_from = case when c.counted_from > p_now - interval '1 day' then c.counted_from else p_now end,
        asked = case when c.counted_from > p_now - interval '1 day' then least(c.asked + 1, mail_asked_max() + 1) else 1 end,
        failed = case when c.counted_from > p_now - interval '1 day' then c.failed else 0 end,
        -- Who asks for another code goes on with the registration.
        name = coalesce(excluded.name, c.name),
        words = case when excluded.name is null then c.words else excluded.words end,
        device_name = case when excluded.name is null then c.device_name else excluded.device_name end
    returning c.asked into v_asked;
    if v_asked <= mail_asked_max() then
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

-- Makes a code the address's only good one, before it is sent to `p_email`. False if the mail is another's meanwhile, or
-- nobody's: then it must not be sent. The lease begins anew.
-- locks: the address's rows in mail_codes and mails
create or replace function mail_code_put(
    p_mail uuid, p_attempt int, p_email text, p_hash text, p_lease_s int, p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql volatile as $$
declare
    v_key text := (select m.email_key from mails m where m.id = p_mail and m.attempt = p_attempt);
begin
    perform 1 from mail_codes c where c.email_key = v_key for no key update;
    update mails m set due_at = p_now + make_interval(secs => p_lease_s)
    where m.id = p_mail and m.attempt = p_attempt and m.email_key = v_key;
    if not found then
        return false;
    end if;
    update mail_codes c set
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

-- What a code is to be compared with; null when there is no good one. The try is counted before it is made, so that it
-- counts on whatever node, and if that dies. An address that was asked for pays the same write, good code or not.
-- locks: the address's row in mail_codes
create or replace function mail_code_try(p_key text, p_now timestamptz default clock_timestamp()) returns text
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_isnew boolean;
    v_isgood boolean;
begin
    select * into v_code from mail_codes c where c.email_key = p_key for no key update;
    if not found then
        return null;
    end if;
    v_isnew := v_code.counted_from <= p_now - interval '1 day';
    if v_isnew then
        v_code.failed := 0;
    end if;
    v_isgood := v_code.code_expires_at > p_now and v_code.code_tries < mail_tries_max()
        and v_code.failed < mail_failures_max() and v_code.code_hash is not null;
    update mail_codes c set
        counted_from = case when v_isnew then p_now else c.counted_from end,
        asked = case when v_isnew then 0 else c.asked end,
        failed = v_code.failed + coalesce(v_isgood, false)::int,
        code_tries = c.code_tries + coalesce(v_isgood, false)::int
    where c.email_key = p_key;
    return case when v_isgood then v_code.code_hash end;
end $$;

-- Signs in by the code with this hash, and makes the account if there is none. No row if the code was used meanwhile, or
-- replaced: each is good once.
-- locks: the address's rows in mail_codes and mails, then the address's unique key
create or replace function mail_code_use(
    p_key text, p_hash text, p_user uuid, p_session uuid, p_digest bytea, p_device text,
    p_now timestamptz default clock_timestamp()
) returns table (account text, session text)
language plpgsql volatile as $$
declare
    v_code mail_codes;
    v_user uuid;
begin
    select * into v_code from mail_codes c
    where c.email_key = p_key and c.code_hash = p_hash and c.code_expires_at > p_now for no key update;
    if not found then
        return;
    end if;
    update mail_codes c set
        failed = 0, name = null, words = null, device_name = null, code_hash = null, code_email = null, code_expires_at = null
    where c.email_key = p_key;
    delete from mails m where m.email_key = p_key;
    select u.id into v_user from users u where u.email_key = p_key;
    if v_user is null then
        if v_code.name is null then
            return;
        end if;
        insert into users (id, name, email, email_key, created_at)
        values (p_user, v_code.name, v_code.code_email, p_key, stamp());
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(v_code.words) w (word);
        v_user := p_user;
    end if;
    return query select s.account, s.session
    from session_create(v_user, p_session, p_digest, coalesce(p_device, v_code.device_name)) s;
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
