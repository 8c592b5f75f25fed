-- Attempts to sign in, counted by all nodes together. A name without an account is counted like a name with one.

-- Returns: how long to wait after `p_failed` wrong passwords in a row: nothing up to the ninth, 1 s after the tenth,
-- then twice as long after each, up to `p_max_s`.
create or replace function sign_in_wait(p_failed int, p_max_s int) returns interval
language sql immutable parallel safe as $$
    select case when p_failed < 10 then interval '0'
        else least(p_max_s, 2 ^ least(p_failed - 10, 20)) * interval '1 s' end
$$;

-- Begins an attempt: counts it as a failure of `p_name` (a digest; null: not counted) until sign_in_end, and takes a
-- token from each bucket, in this order.
-- Returns: no row if the attempt may proceed. Otherwise the number of the empty bucket (from 1; 0: the name has to
-- wait) and the wait in milliseconds; then nothing was counted or taken.
-- Locks: the name's row, then the buckets' rows in this order
create or replace function sign_in_begin(
    p_name bytea, p_wait_max_s int, p_keys bytea[], p_steps_ms int[], p_windows_ms int[]
) returns table (number int, wait_ms int)
language plpgsql volatile as $$
declare
    v_now timestamptz := clock_timestamp();
    v_until timestamptz;
begin
    select f.failed_at + sign_in_wait(f.failed, p_wait_max_s) into v_until
    from sign_in_failures f where f.key = p_name and f.failed_at > v_now - interval '1 day' for update;
    if v_until > v_now then
        return query select 0, ceil(extract(epoch from v_until - v_now) * 1000)::int;
        return;
    end if;
    select t.number, t.wait_ms into number, wait_ms from rate_limit_take(p_keys, p_steps_ms, p_windows_ms) t;
    if found then
        perform rate_limit_give_back(p_keys[: number - 1], p_steps_ms[: number - 1]);
        return next;
    elsif p_name is not null then
        insert into sign_in_failures as f (key, failed, failed_at) values (p_name, 1, v_now)
        on conflict (key) do update set failed_at = v_now,
            failed = case when f.failed_at > v_now - interval '1 day' then f.failed + 1 else 1 end;
    end if;
end $$;

-- Ends an attempt. `p_outcome` is `right` (the name's failures are forgotten), `wrong` (this one stays counted), or
-- `none` (nothing was learned: this one is uncounted). Puts a token back into each given bucket.
-- Locks: the name's row, then the buckets' rows in this order
create or replace function sign_in_end(p_name bytea, p_outcome text, p_keys bytea[], p_steps_ms int[]) returns void
language plpgsql volatile as $$
begin
    if p_outcome = 'right' then
        delete from sign_in_failures f where f.key = p_name;
    elsif p_outcome = 'none' then
        update sign_in_failures f set failed = greatest(0, f.failed - 1) where f.key = p_name;
    end if;
    perform rate_limit_give_back(p_keys, p_steps_ms);
end $$;

-- Deletes names that nobody tried for a day, at most `p_limit`. Runs on every node.
-- Returns: how many were deleted.
-- Locks: rows that are not locked by others
create or replace function sign_in_sweep(p_limit int) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from sign_in_failures f where f.key = any (array(
        select o.key from sign_in_failures o where o.failed_at < clock_timestamp() - interval '1 day'
        order by o.failed_at limit p_limit for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end $$;
