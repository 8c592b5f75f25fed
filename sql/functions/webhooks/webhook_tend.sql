-- Which node delivers to which endpoint: a lease, so that the endpoints of a killed node move to another one.

-- Renews the leases of a node on `p_held`, and claims at most `p_limit` endpoints that no node has. A lease lasts
-- `p_lease_s` seconds. Call it every second.
-- Returns: the endpoints that the node holds, with what their deliveries need. A held one that is missing is to be
-- stopped: it is disabled or deleted, or another node has it. So is one with another claim or revision. `revision`
-- counts the changes of the endpoint: of URL, types, secrets, and whether it is enabled.
-- Locks: the states that it renews or claims; those locked by others are skipped
-- Costs: a write of each lease every ten seconds; otherwise two index scans
create or replace function webhook_tend(
    p_node text, p_held uuid[], p_limit int, p_lease_s int, p_now timestamptz default clock_timestamp()
) returns table (webhook_id uuid, claim bigint, revision int, url text, is_thin boolean, is_ordered boolean,
    secret bytea, former_secret bytea)
language plpgsql volatile as $$
#variable_conflict use_column
begin
    update webhook_states s set lease_until = p_now + make_interval(secs => p_lease_s)
    where s.webhook_id = any (array(
        select x.webhook_id from webhook_states x where x.webhook_id = any (p_held) and x.node = p_node
            and x.lease_until > p_now and x.lease_until < p_now + make_interval(secs => p_lease_s * 0.6)
        for no key update skip locked));
    update webhook_states s set node = p_node, claim = s.claim + 1, lease_until = p_now + make_interval(secs => p_lease_s)
    where s.webhook_id = any (array(
        select x.webhook_id from webhook_states x
        where x.lease_until <= p_now
            and (select w.is_enabled from webhooks w where w.id between x.webhook_id and x.webhook_id)
        order by x.webhook_id limit p_limit for no key update skip locked));
    return query
    select s.webhook_id, s.claim, w.revision, w.url, w.is_thin, w.is_ordered, w.secret,
        case when w.former_until > p_now then w.former_secret end
    from webhook_states s
    cross join lateral (select x.* from webhooks x where x.id between s.webhook_id and s.webhook_id limit 1) w
    where s.node = p_node and s.lease_until > p_now and w.is_enabled;
end $$;

-- Ends the lease of a node that stops, so that another one may claim the endpoint at once.
-- Locks: the endpoint's state
create or replace function webhook_release(p_webhook uuid, p_claim bigint) returns void
language sql volatile as $$
    update webhook_states s set lease_until = '-infinity', node = ''
    where s.webhook_id = p_webhook and s.claim = p_claim
$$;

-- Returns the place from which a node goes on, for its claim; no row if another node has the endpoint. What the log has
-- dropped meanwhile is counted in `lost` and skipped: with `dropped` events, which may include some of other types. If
-- the log has lost its tail, it goes on from where the tail was lost, and what waited from the lost tail is deleted.
-- Locks: the endpoint's state
create or replace function webhook_open(p_webhook uuid, p_claim bigint)
returns table (epoch int, pos bigint, dropped bigint)
language plpgsql volatile as $$
#variable_conflict use_column
declare
    v_state webhook_states;
    v_place record;
    v_kept bigint;
    v_gone bigint;
begin
    select * into v_state from webhook_states s where s.webhook_id = p_webhook and s.claim = p_claim for no key update;
    if not found then
        return;
    end if;
    dropped := 0;
    pos := v_state.pos;
    select * into v_place from log_place(v_state.epoch, v_state.pos);
    if v_place.state = 'lost' then
        pos := least(coalesce(v_place.epoch_end - 1, v_place.head), v_place.head, pos);
        delete from webhook_deliveries d where d.webhook_id = p_webhook and d.pos > webhook_open.pos;
    end if;
    v_kept := coalesce((select t.end_pos from log_trims t order by t.end_pos desc limit 1), 1);
    if pos < v_kept - 1 then
        dropped := v_kept - 1 - pos;
        pos := v_kept - 1;
    end if;
    -- The parked ones can no longer be replayed. Only the others are lost now.
    with gone as (
        delete from webhook_deliveries d where d.webhook_id = p_webhook and d.pos < v_kept returning d.state
    )
    select count(*) filter (where g.state < 2) into v_gone from gone g;
    dropped := dropped + v_gone;
    epoch := v_place.epoch;
    if dropped > 0 or pos <> v_state.pos or epoch <> v_state.epoch then
        update webhook_states s set epoch = v_place.epoch, pos = webhook_open.pos, lost = s.lost + webhook_open.dropped
        where s.webhook_id = p_webhook;
    end if;
    return next;
end $$;

-- Reads the log for an endpoint: after a place, what its types select, or the events at `p_positions`, whatever their
-- types. The settings and the events are of one snapshot. So a node sends no event by settings that were changed before
-- the event, and the cursor passes no event that the stored types would have selected.
-- Returns: as changes_read; no row if the claim is over, or the settings have another revision than `p_revision`.
-- Costs: two index probes more than changes_read; a short range scan for each of the positions
create or replace function webhook_read(
    p_webhook uuid, p_claim bigint, p_revision int, p_epoch int, p_pos bigint, p_limit int, p_bytes int,
    p_positions bigint[] default null
) returns table (pos bigint, event_epoch int, type text, thread_id uuid, at timestamptz, actor_id uuid, body text,
    state text, last bigint, epoch int, head bigint, message_id uuid, seq bigint, sender_id uuid, name text, image text,
    message_type text, reply_to uuid, mentions uuid[], expires_at timestamptz)
language plpgsql stable as $$
declare
    v_webhook webhooks;
begin
    if not exists (select from webhook_states s where s.webhook_id = p_webhook and s.claim = p_claim) then
        return;
    end if;
    select * into v_webhook from webhooks w where w.id = p_webhook and w.revision = p_revision;
    if not found then
        return;
    end if;
    if p_positions is null then
        return query select * from changes_read(p_epoch, p_pos, v_webhook.types, p_limit, p_bytes);
        return;
    end if;
    return query select c.* from unnest(p_positions) p (pos)
        cross join lateral changes_read(p_epoch, p.pos - 1, null, 1, p_bytes, 1) c where c.pos = p.pos;
    return query select * from changes_read(p_epoch, p_pos, null, 0, p_bytes, 0);
end $$;

-- Returns: the events of an endpoint that failed or wait, in order, at most `p_limit` after `p_after`.
create or replace function webhook_open_deliveries(p_webhook uuid, p_after bigint, p_limit int)
returns table (pos bigint, event_id text, thread_id uuid, at_ms bigint, state smallint, tries int, next_ms bigint,
    status int, reason text)
language plpgsql stable as $$
begin
    return query
    select d.pos, d.event_id, d.thread_id, (extract(epoch from d.at) * 1000)::bigint, d.state, d.tries,
        (extract(epoch from d.next_at) * 1000)::bigint, d.status, d.reason
    from webhook_deliveries d
    where d.webhook_id = p_webhook and d.pos > p_after and d.state < 2 order by d.pos limit p_limit;
end $$;
