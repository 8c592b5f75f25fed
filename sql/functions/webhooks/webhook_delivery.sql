-- What became of the deliveries of an endpoint, for administrators.

-- Returns: one delivery. `status` is the status of the last answer, null without one.
create or replace function webhook_delivery_json(
    p_event text, p_state text, p_status int, p_tries int, p_reason text, p_tried_at timestamptz, p_next_at timestamptz
) returns text
language sql stable as $$
    select jsonb_strip_nulls(jsonb_build_object('reason', p_reason, 'tried_at', rfc3339(p_tried_at),
        'next_at', rfc3339(p_next_at)))::jsonb
        || jsonb_build_object('event_id', p_event, 'state', p_state, 'status', p_status, 'tries', p_tries)
$$;

-- Returns: a page of an endpoint's deliveries in a state, which is one of:
--   pending     not tried yet: they wait behind a failed event of their thread, or in the log after the cursor; the
--               next one first
--   failed      are retried at `next_at`
--   parked      all tries failed
--   delivered   the latest
-- Null is for all that were tried, or wait. Except for pending, the latest event comes first.
-- Fails: PY404 webhook_not_found.
-- Costs: the rows of the state, at most some thousands; for pending a part of the log
create or replace function webhook_delivery_list(
    p_webhook uuid, p_state text, p_limit int, p_after_rank bigint, p_after_id uuid
) returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
#variable_conflict use_column
declare
    v_state webhook_states;
    v_types text[];
begin
    perform webhook_get(p_webhook);
    select * into v_state from webhook_states s where s.webhook_id = p_webhook;
    if p_state = 'pending' then
        v_types := (select w.types from webhooks w where w.id = p_webhook);
        return query
        with waiting as (
            select d.pos, d.event_id from webhook_deliveries d
            where d.webhook_id = p_webhook and d.state = 0 and (p_after_rank is null or d.pos > p_after_rank)
            order by d.pos limit p_limit
        ), unread as (
            select c.pos, 'evt_0_' || c.event_epoch || '_' || c.pos as event_id
            from changes_read(log_epoch(), greatest(v_state.pos, coalesce(p_after_rank, 0)), v_types, p_limit, 1 << 20, 50000) c
            where c.pos is not null and not exists (select from webhook_deliveries d
                where d.webhook_id = p_webhook and d.pos between c.pos and c.pos)
        )
        select webhook_delivery_json(x.event_id, 'pending', null, 0, null, null, null), x.pos, p_webhook
        from (select * from waiting union all select * from unread) x order by x.pos limit p_limit;
        return;
    end if;
    return query
    select webhook_delivery_json(x.event_id, x.state, x.status, x.tries, x.reason, x.tried_at, x.next_at), x.pos, p_webhook
    from (
        select d.pos, d.event_id, (array['pending', 'failed', 'parked'])[d.state + 1] as state, d.status, d.tries, d.reason,
            d.tried_at, d.next_at
        from webhook_deliveries d
        where d.webhook_id = p_webhook
            and (p_state is null or p_state <> 'delivered' and d.state = case p_state when 'failed' then 1 else 2 end)
        union all
        select l.pos, l.event_id, 'delivered', l.status, l.tries, null, l.at, null
        from (
            -- An event that was replayed is shown once.
            select distinct on (e.pos) e.pos, e.event_id, e.status, e.tries, b.at
            from webhook_batches b
            cross join lateral unnest(b.positions, b.event_ids, b.statuses, b.tries) e (pos, event_id, status, tries)
            where b.webhook_id = p_webhook and coalesce(p_state, 'delivered') = 'delivered'
            order by e.pos, b.n desc
        ) l
        where not exists (select from webhook_deliveries d where d.webhook_id = p_webhook and d.pos between l.pos and l.pos)
    ) x
    where p_after_rank is null or x.pos < p_after_rank
    order by x.pos desc limit p_limit;
end $$;
