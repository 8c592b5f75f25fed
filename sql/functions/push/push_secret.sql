-- Secrets that all nodes share to send alerts: a key pair that is created once, and tokens that are valid for an hour.

-- Returns: the stored secret. If there is none, stores `p_value`. So simultaneous callers get the same one.
-- Locks: the secret's row
create or replace function push_secret_keep(p_name text, p_value bytea) returns bytea
language plpgsql volatile as $$
begin
    insert into push_secrets (name, value, made_at) values (p_name, p_value, stamp()) on conflict do nothing;
    return (select s.value from push_secrets s where s.name = p_name);
end $$;

-- Returns: the valid secret, if there is one, for how many milliseconds it is valid, and whether the caller must make
-- the next one. One caller receives this answer, and another one `p_lease_s` seconds later if it has not stored a new one.
-- Locks: the secret's row, when a new one is due
create or replace function push_secret_lease(
    p_name text, p_lease_s int, p_now timestamptz default clock_timestamp()
) returns table (value bytea, good_ms bigint, is_due boolean)
language plpgsql volatile as $$
declare
    v_secret push_secrets;
begin
    select * into v_secret from push_secrets s where s.name = p_name;
    if not found then
        insert into push_secrets (name, value, made_at, expires_at, renew_at)
        values (p_name, '', p_now, p_now, p_now + make_interval(secs => p_lease_s)) on conflict do nothing;
        is_due := found;
    elsif v_secret.renew_at <= p_now then
        update push_secrets s set renew_at = p_now + make_interval(secs => p_lease_s)
        where s.name = p_name and s.renew_at <= p_now;
        is_due := found;
    else
        is_due := false;
    end if;
    if v_secret.value <> '' and v_secret.expires_at > p_now then
        value := v_secret.value;
        good_ms := (extract(epoch from v_secret.expires_at - p_now) * 1000)::bigint;
    end if;
    return next;
end $$;

-- Replaces a secret. The new one is valid for `p_good_s` seconds, and the next is due after `p_renew_s`.
-- Locks: the secret's row
create or replace function push_secret_put(
    p_name text, p_value bytea, p_good_s int, p_renew_s int, p_now timestamptz default clock_timestamp()
) returns void
language plpgsql volatile as $$
begin
    insert into push_secrets as s (name, value, made_at, expires_at, renew_at)
    values (p_name, p_value, p_now, p_now + make_interval(secs => p_good_s), p_now + make_interval(secs => p_renew_s))
    on conflict (name) do update set value = excluded.value, made_at = excluded.made_at, expires_at = excluded.expires_at,
        renew_at = excluded.renew_at;
end $$;

-- Records that a push service refused the secret: the next is due at once, but not within `p_age_min_s` seconds of its
-- making. A secret that was replaced meanwhile stays.
-- Locks: the secret's row
create or replace function push_secret_refuse(
    p_name text, p_value bytea, p_age_min_s int, p_now timestamptz default clock_timestamp()
) returns void
language plpgsql volatile as $$
begin
    update push_secrets s set renew_at = least(s.renew_at, greatest(p_now, s.made_at + make_interval(secs => p_age_min_s)))
    where s.name = p_name and s.value = p_value;
end $$;
