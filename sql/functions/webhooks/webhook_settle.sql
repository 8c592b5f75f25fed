-- Recording what became of deliveries.

-- Records a batch of outcomes and the new cursor, for a claim.
--   p_pos        every event up to here is delivered or parked, or has a row in webhook_deliveries
--   delivered    positions, ids, statuses and tries of delivered events; the latest `p_recent` are kept
--   open         events that failed (1), wait (0) or are parked (2), with everything that the row shows
--   p_removed    events that the log no longer has
--   p_is_gone    whether the endpoint answered 410: it is disabled, unless its settings have another revision than
--                `p_revision` by now. Then another address may have answered than the present one
-- At most `p_parked_max` parked events are kept, the newest.
-- Returns: whether the claim still has the endpoint. Otherwise nothing was recorded.
-- Locks: with `p_is_gone` the endpoint's row; its state
-- Costs: one update, and one insert if something was delivered
create or replace function webhook_settle(
    p_webhook uuid, p_claim bigint, p_epoch int, p_pos bigint,
    p_delivered bigint[], p_delivered_ids text[], p_delivered_statuses int[], p_delivered_tries int[],
    p_open bigint[], p_open_ids text[], p_open_threads uuid[], p_open_at_ms bigint[], p_open_states int[],
    p_open_tries int[], p_open_statuses int[], p_open_reasons text[], p_open_next_ms bigint[],
    p_removed bigint[], p_is_gone boolean, p_revision int default null,
    p_recent int default 1000, p_parked_max int default 10000
) returns boolean
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_n bigint;
begin
    if p_is_gone then
        -- Before the state, as administrators' calls do.
        perform from webhooks w where w.id = p_webhook for no key update;
    end if;
    update webhook_states s set epoch = p_epoch, pos = p_pos, lost = s.lost + cardinality(p_removed)
    where s.webhook_id = p_webhook and s.claim = p_claim;
    if not found then
        return false;
    end if;
    if exists (select from webhook_deliveries d where d.webhook_id = p_webhook limit 1) then
        delete from webhook_deliveries d where d.webhook_id = p_webhook and d.pos = any (p_delivered || p_removed);
    end if;
    if p_delivered <> '{}' then
        v_n := coalesce((select b.n from webhook_batches b where b.webhook_id = p_webhook order by b.n desc limit 1), 0)
            + cardinality(p_delivered);
        insert into webhook_batches (webhook_id, n, at, positions, event_ids, statuses, tries)
        values (p_webhook, v_n, v_now, p_delivered, p_delivered_ids, p_delivered_statuses, p_delivered_tries);
        delete from webhook_batches b where b.webhook_id = p_webhook and b.n <= v_n - p_recent;
    end if;
    if p_open <> '{}' then
        insert into webhook_deliveries as d
            (webhook_id, pos, event_id, thread_id, at, state, tries, status, reason, tried_at, next_at)
        select p_webhook, o.pos, o.id, o.thread, to_timestamp(o.at_ms / 1000.0), o.state, o.tries, o.status, o.reason,
            case when o.tries > 0 then v_now end, to_timestamp(o.next_ms / 1000.0)
        from unnest(p_open, p_open_ids, p_open_threads, p_open_at_ms, p_open_states, p_open_tries, p_open_statuses,
            p_open_reasons, p_open_next_ms) o (pos, id, thread, at_ms, state, tries, status, reason, next_ms)
        on conflict (webhook_id, pos) do update set state = excluded.state, tries = excluded.tries,
            status = excluded.status, reason = excluded.reason, tried_at = excluded.tried_at, next_at = excluded.next_at;
        if 2 = any (p_open_states) then
            delete from webhook_deliveries d where d.webhook_id = p_webhook and d.state = 2
                and d.pos <= (select x.pos from webhook_deliveries x where x.webhook_id = p_webhook and x.state = 2
                    order by x.pos desc offset p_parked_max limit 1);
        end if;
    end if;
    if p_is_gone then
        update webhooks w set is_enabled = false, disabled_at = v_now, disabled_reason = 'gone', revision = w.revision + 1
        where w.id = p_webhook and w.is_enabled and w.revision = coalesce(p_revision, w.revision);
    end if;
    return true;
end $$;
