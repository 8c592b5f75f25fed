-- Limits that all nodes share. Each is a bucket of tokens, stored as the time at which it will be full again. A bucket
-- that was never used, or is full by now, needs no row.

-- Takes a token from each bucket, in this order, up to the first empty one. A bucket regains a token every
-- `p_steps_ms`; an empty bucket fills in `p_windows_ms`. Pass addresses before accounts: a caller whose address has no
-- token left cannot use up the account's.
-- Returns: no row if all were taken. Otherwise the number of the empty bucket, from 1, and the wait in milliseconds.
-- Locks: the buckets' rows in this order
create or replace function rate_limit_take(p_keys bytea[], p_steps_ms int[], p_windows_ms int[])
returns table (number int, wait_ms int)
language plpgsql volatile as $$
declare
    v_now timestamptz;
    v_step interval;
    v_window interval;
begin
    for i in 1 .. cardinality(p_keys) loop
        v_now := clock_timestamp();
        v_step := p_steps_ms[i] * interval '1 ms';
        v_window := p_windows_ms[i] * interval '1 ms';
        insert into rate_limits as r (key, full_at) values (p_keys[i], v_now + v_step)
        on conflict (key) do update set full_at = greatest(r.full_at, v_now) + v_step
            where greatest(r.full_at, v_now) + v_step <= v_now + v_window;
        if not found then
            return query select i, greatest(1, ceil(extract(epoch from r.full_at + v_step - v_window - v_now) * 1000))::int
                from rate_limits r where r.key = p_keys[i];
            return;
        end if;
    end loop;
end $$;

-- Puts a token back into each bucket, after an attempt that turned out not to be a guess.
-- Locks: the buckets' rows in this order
create or replace function rate_limit_give_back(p_keys bytea[], p_steps_ms int[]) returns void
language plpgsql volatile as $$
begin
    for i in 1 .. cardinality(p_keys) loop
        update rate_limits r set full_at = r.full_at - p_steps_ms[i] * interval '1 ms' where r.key = p_keys[i];
    end loop;
end $$;

-- Deletes full buckets, at most `p_limit`. Runs on every node.
-- Returns: how many were deleted.
-- Locks: rows that are not locked by others
create or replace function rate_limit_sweep(p_limit int) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from rate_limits r where r.key = any (array(
        select f.key from rate_limits f where f.full_at < clock_timestamp() order by f.full_at limit p_limit
        for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end $$;

-- Takes `p_count` tokens of bucket `p_number` (from 1) in the transaction that uses them: if the transaction fails, it
-- takes none. No bucket (null or empty arrays) means no limit. Asking for more tokens than the bucket holds always
-- fails.
-- Fails: PY429 rate_limited; the hint is the bucket's number, the detail the wait in milliseconds.
-- Locks: the bucket's row (before the log)
create or replace function rate_limit_spend(
    p_number int, p_count int, p_keys bytea[], p_steps_ms int[], p_windows_ms int[]) returns void
language plpgsql volatile as $$
declare
    v_step_ms bigint := p_steps_ms[p_number]::bigint * p_count;
    v_wait_ms int;
begin
    if p_count = 0 or v_step_ms is null then
        return;
    elsif v_step_ms > p_windows_ms[p_number] then
        v_wait_ms := p_windows_ms[p_number];
    else
        select t.wait_ms into v_wait_ms from rate_limit_take(
            array[p_keys[p_number]], array[v_step_ms::int], array[p_windows_ms[p_number]]) t;
    end if;
    if v_wait_ms is not null then
        perform refuse(429, 'rate_limited', v_wait_ms::text, p_number::text);
    end if;
end $$;
