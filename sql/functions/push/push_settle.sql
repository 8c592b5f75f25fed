-- Recording the outcomes of alerts.

-- Records the outcomes of alerts, a batch in one call.
--   outcome   `done`: must not be sent again, whoever has claimed it by now. `retry`: send again after `wait_ms`.
--             `defer`: the same, and it was not sent, so it does not count as an attempt. `forget`: the token is
--             invalid; if it is still the one registered at `registered_ms`, delete it with all its jobs, otherwise
--             send the alert to the new one
-- Returns: how many tokens were deleted.
-- Locks: the devices' rows in push_targets, by session
create or replace function push_settle(
    p_sessions uuid[], p_positions bigint[], p_attempts int[], p_outcomes text[], p_waits_ms bigint[],
    p_registered_ms bigint[], p_now timestamptz default clock_timestamp()
) returns int
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
declare
    v_gone uuid[] := '{}';
begin
    perform from push_targets t where t.session_id = any (p_sessions) order by t.session_id for no key update;
    if 'forget' = any (p_outcomes) then
        v_gone := array(
            select g.session_id from unnest(p_sessions, p_outcomes, p_registered_ms) g (session_id, outcome, registered_ms)
            where g.outcome = 'forget' and g.registered_ms >= (select floor(extract(epoch from t.registered_at) * 1000)
                from push_targets t where t.session_id = g.session_id));
        perform push_target_forget(v_gone);
    end if;
    if 'done' = any (p_outcomes) then
        -- Rows are found by ctid, as in push_job_next.
        delete from push_jobs j where j.ctid = any (array(
            select x.ctid from unnest(p_sessions, p_positions, p_outcomes) g (session_id, pos, outcome)
            cross join lateral (select y.ctid from push_jobs y where y.session_id = g.session_id
                and y.pos between g.pos and g.pos order by y.session_id, y.pos limit 1) x
            where g.outcome = 'done'));
    end if;
    if p_outcomes && array['retry', 'defer', 'forget'] then
        update push_jobs j set
            due_at = case when exists (select from device_polls d where d.session_id = j.session_id) then 'infinity'
                else p_now + g.wait_ms * interval '1 ms' end,
            attempt = j.attempt - case g.outcome when 'defer' then 1 else 0 end
        from unnest(p_sessions, p_positions, p_attempts, p_outcomes, p_waits_ms)
            g (session_id, pos, attempt, outcome, wait_ms)
        cross join lateral (select y.ctid from push_jobs y where y.session_id = g.session_id
            and y.pos between g.pos and g.pos order by y.session_id, y.pos limit 1) x
        where j.ctid = x.ctid and j.attempt = g.attempt and g.outcome <> 'done';
    end if;
    perform push_job_next(p_sessions, p_now);
    return cardinality(v_gone);
end $$;

-- Deletes jobs older than `p_life_s` of a platform for which no node sends, of at most `p_limit` devices.
-- Returns: how many jobs were deleted.
-- Locks: the devices' rows in push_targets; rows locked by others are skipped
create or replace function push_expire(
    p_platform text, p_limit int, p_life_s int, p_now timestamptz default clock_timestamp()
) returns int
language plpgsql volatile as $$
declare
    v_end timestamptz := p_now - make_interval(secs => p_life_s);
    v_sessions uuid[] := push_devices_due(p_platform, p_limit, v_end);
    v_count int;
begin
    delete from push_jobs j where j.session_id = any (v_sessions) and j.at <= v_end;
    get diagnostics v_count = row_count;
    perform push_job_next(v_sessions, p_now);
    return v_count;
end $$;
