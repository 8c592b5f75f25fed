-- Mails: asking for one, claiming it, and recording its outcome.

-- Queues a mail with a code to an address. With `p_name` (and the directory's words for it) using the code makes an
-- account. The first registration stays for 20 minutes: sending the mail and the code's life may take that long.
-- Anybody may ask for any address, so a later request must not decide the name of the account. A request without a
-- name continues the pending registration. `p_invitation` is what the account will use; a pending registration gets it
-- when its own is no longer good, so that nobody's used-up invitation keeps the address's owner out. `p_kind` is `code`,
-- for signing in, or `confirm`: `p_user` wants the address. Does the same work for every address and every caller. Above
-- the address's daily number of mails nothing is sent.
-- Locks: the address's rows in mail_codes and mails
create or replace function mail_ask(
    p_mail uuid, p_email text, p_key text, p_name text, p_words text[], p_device text,
    p_invitation uuid default null, p_kind text default 'code', p_user uuid default null, p_now timestamptz default stamp()
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
    if p_name is null then
        null;
    elsif v_code.name is null or v_code.registered_at <= p_now - 2 * mail_life() then
        update mail_codes c set name = p_name, words = p_words, device_name = p_device, registered_at = p_now,
            invitation_id = p_invitation
        where c.email_key = p_key;
    elsif p_invitation is not null then
        update mail_codes c set invitation_id = p_invitation
        where c.email_key = p_key and not invitation_is_usable(c.invitation_id, p_now);
    end if;
    if v_code.asked <= mail_asked_max() then
        perform mail_queue(p_mail, p_email, p_key, p_kind, p_user, p_now);
    end if;
end $$;

-- Queues a mail, in place of one of the same kind to the address.
-- Locks: the address's row in mails
create or replace function mail_queue(
    p_mail uuid, p_email text, p_key text, p_kind text, p_user uuid, p_now timestamptz default stamp()
) returns void
language sql volatile as $$
    insert into mails as m (id, email_key, email, kind, user_id, asked_at, due_at)
    values (p_mail, p_key, p_email, p_kind, p_user, p_now, p_now)
    on conflict (email_key, kind) do update set id = excluded.id, email = excluded.email, user_id = excluded.user_id,
        asked_at = excluded.asked_at, due_at = excluded.due_at, attempt = 0
$$;

-- Claims the next due mail.
-- Returns: no row when none is due. `outcome` is `send`, and nobody else claims it for `p_lease_s` seconds; or the
-- mail was deleted: `expired` (its time is over) or `withheld` (there is nobody to sign in, by the rule
-- `p_registration`; there were too many failures; or nobody wants the address any more). `email` is the account's own
-- address, if there is an account. `purpose` is `sign_in`, `sign_up`, `confirm`, or, without a code, `taken` (another
-- account wants the owner's address: once a day) or `replaced`.
-- Locks: the mail's row; rows locked by others are skipped; for `taken` the address's row in email_notices
create or replace function mail_claim(
    p_lease_s int, p_registration text default 'open', p_now timestamptz default clock_timestamp()
)
returns table (outcome text, mail uuid, attempt int, email text, purpose text)
language plpgsql volatile as $$
declare
    v_mail mails;
    v_owner users;
begin
    select * into v_mail from mails m where m.due_at <= p_now order by m.due_at limit 1 for update skip locked;
    if not found then
        return;
    end if;
    mail := v_mail.id;
    select * into v_owner from users u where u.email_key = v_mail.email_key;
    purpose := case when v_mail.asked_at + mail_life() > p_now then mail_purpose(v_mail, v_owner.id, p_registration, p_now) end;
    outcome := case when v_mail.asked_at + mail_life() <= p_now then 'expired' when purpose is null then 'withheld' else 'send' end;
    if outcome = 'send' then
        update mails m set attempt = m.attempt + 1, due_at = p_now + make_interval(secs => p_lease_s) where m.id = v_mail.id;
        attempt := v_mail.attempt + 1;
        email := coalesce(v_owner.email, v_mail.email);
    else
        delete from mails m where m.id = v_mail.id;
    end if;
    return next;
end $$;

-- Returns: the purpose of a mail that is due, to an address that belongs to `p_owner` (null: to no account); null to
-- withhold it.
-- Locks: for `taken` the address's row in email_notices; the caller holds the mail's row
create or replace function mail_purpose(m mails, p_owner uuid, p_registration text, p_now timestamptz) returns text
language plpgsql volatile as $$
declare
    v_code mail_codes;
begin
    if m.kind = 'replaced' then
        return 'replaced';
    elsif m.kind = 'confirm' and not exists (
            select from email_wishes w where w.user_id = m.user_id and w.email_key = m.email_key) then
        return null;
    elsif m.kind = 'confirm' and p_owner <> m.user_id then
        -- A retry was counted before.
        insert into email_notices as n (email_key, at) values (m.email_key, p_now)
        on conflict (email_key) do update set at = excluded.at where n.at <= p_now - interval '1 day' or m.attempt > 0;
        return case when found then 'taken' end;
    end if;
    select c.* into v_code from mail_codes c where c.email_key = m.email_key;
    return case
        when v_code.failed >= mail_failures_max() then null
        when m.kind = 'confirm' then 'confirm'
        when p_owner is not null then 'sign_in'
        when v_code.name is null or p_registration = 'closed'
            or p_registration = 'invited' and not invitation_is_usable(v_code.invitation_id, p_now) then null
        else 'sign_up' end;
end $$;

-- Makes a code valid for the address, before it is sent to `p_email`, and renews the lease. Of the codes that are
-- valid already the one mailed first stays valid, and any other ends: strangers who ask for more codes cannot
-- invalidate the owner's. Without a code (null) only the lease is renewed.
-- Returns: false if another node has claimed the mail, or it is gone. Then it must not be sent.
-- Locks: the address's rows in mail_codes and mails
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
    elsif p_hash is null then
        return true;
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

-- Records how sending ended: finally (`p_again_s` is null), or to be retried after `p_again_s` seconds.
-- Returns: whether it will be retried. It will not if the code would have expired by then, or another node has claimed
-- the mail.
-- Locks: the mail's row
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

-- Deletes addresses whose day is over, plus an hour for mails on their way, at most `p_limit`.
-- Returns: how many were deleted.
-- Locks: their rows in mail_codes; rows locked by others are skipped
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
