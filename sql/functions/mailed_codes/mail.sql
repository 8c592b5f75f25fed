-- Mails with codes: asking for one, claiming it, and recording its outcome.

-- Queues a mail with a code to an address. With `p_name` (and the directory's words for it) using the code makes an
-- account. The first registration stays for 20 minutes: sending the mail and the code's life may take that long.
-- Anybody may ask for any address, so a later request must not decide the name of the account. A request without a
-- name continues the pending registration. `p_invitation` is what the account will use; a pending registration gets it
-- when its own is no longer good, so that nobody's used-up invitation keeps the address's owner out. Does the same work for every address and every caller. Above the address's
-- daily number of mails nothing is sent.
-- Locks: the address's rows in mail_codes and mails
create or replace function mail_ask(
    p_mail uuid, p_email text, p_key text, p_name text, p_words text[], p_device text,
    p_invitation uuid default null, p_now timestamptz default stamp()
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
        insert into mails as m (id, email_key, email, asked_at, due_at) values (p_mail, p_key, p_email, p_now, p_now)
        on conflict (email_key) do update set
            id = excluded.id, email = excluded.email, asked_at = excluded.asked_at, due_at = excluded.due_at, attempt = 0;
    end if;
end $$;

-- Claims the next due mail.
-- Returns: no row when none is due. `outcome` is `send`, and nobody else claims it for `p_lease_s` seconds; or the
-- mail was deleted: `expired` (its time is over) or `withheld` (there is nobody to sign in, by the rule
-- `p_registration`, or there were too many failures). `email` is the account's own address, if there is an account.
-- Locks: the mail's row; rows locked by others are skipped
create or replace function mail_claim(
    p_lease_s int, p_registration text default 'open', p_now timestamptz default clock_timestamp()
)
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
        when v_code.failed >= mail_failures_max()
            or v_email is null and (v_code.name is null or p_registration = 'closed'
                or p_registration = 'invited' and not invitation_is_usable(v_code.invitation_id, p_now)) then 'withheld'
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

-- Makes a code valid for the address, before it is sent to `p_email`, and renews the lease. Of the codes that are
-- valid already the one mailed first stays valid, and any other ends: strangers who ask for more codes cannot
-- invalidate the owner's.
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
