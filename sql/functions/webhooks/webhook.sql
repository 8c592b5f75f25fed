-- The endpoints of the operator, and the calls of administrators on them.

-- Returns: an endpoint as administrators see it, without its secret. `lag` is what it has not received yet: events of
-- the log after its cursor, whether or not they match its types, and those that failed or wait.
create or replace function webhook_json(w webhooks) returns jsonb
language sql stable as $$
    select jsonb_build_object('id', w.id, 'url', w.url, 'types', w.types, 'thin', w.is_thin, 'ordered', w.is_ordered,
        'enabled', w.is_enabled, 'disabled_at', rfc3339(w.disabled_at), 'disabled_reason', w.disabled_reason,
        'created_at', rfc3339(w.created_at),
        'former_secret_until', case when w.former_until > clock_timestamp() then rfc3339(w.former_until) end,
        'lost_events', s.lost,
        'lag_events', greatest(log_head() - s.pos, 0)
            + (select count(*) from webhook_deliveries d where d.webhook_id = w.id and d.state < 2))
    from webhook_states s where s.webhook_id = w.id
$$;

-- Returns: an endpoint.
-- Fails: PY404 webhook_not_found.
create or replace function webhook_get(p_webhook uuid) returns text
language sql stable as $$
    select coalesce((select webhook_json(w)::text from webhooks w where w.id = p_webhook), refuse_unknown('webhook'))
$$;

-- Returns: a page of all endpoints, the newest first.
create or replace function webhook_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select webhook_json(w)::text, 0::bigint, w.id
    from webhooks w where p_after_id is null or w.id < p_after_id order by w.id desc limit p_limit
$$;

-- Makes an endpoint. It gets the events that come from now on. `p_types` is null for all types.
-- Returns: the endpoint.
-- Fails: PY422 too_many_webhooks, when there are `p_count_max`.
-- Locks: making endpoints
create or replace function webhook_create(
    p_actor text, p_request text, p_admin_key uuid, p_webhook uuid, p_url text, p_types text[], p_thin boolean, p_ordered boolean,
    p_secret bytea, p_count_max int
) returns text
language plpgsql volatile as $$
begin
    perform lock_row('webhooks');
    if (select count(*) from webhooks) >= p_count_max then
        perform refuse(422, 'too_many_webhooks',
            format('There are %s webhooks already, which is the limit. Delete one first.', p_count_max));
    end if;
    insert into webhooks (id, url, types, is_thin, is_ordered, secret, created_at)
    values (p_webhook, p_url, p_types, p_thin, p_ordered, p_secret, stamp());
    insert into webhook_states (webhook_id, epoch, pos) values (p_webhook, log_epoch(), log_head());
    perform audit_note(p_actor, p_request, p_admin_key, 'webhook.create', p_subject => p_webhook::text);
    return webhook_get(p_webhook);
end $$;

-- Changes an endpoint. Null leaves a value as it is; `p_has_types` says whether `p_types` is given, which may be null
-- for all types. An endpoint that is enabled again gets what it has missed, as far as the log is kept.
-- Returns: the endpoint.
-- Fails: PY404 webhook_not_found.
-- Locks: the endpoint's row
create or replace function webhook_update(
    p_actor text, p_request text, p_admin_key uuid, p_webhook uuid, p_url text, p_has_types boolean, p_types text[], p_enabled boolean
) returns text
language plpgsql volatile as $$
declare
    v_webhook webhooks;
begin
    select * into v_webhook from webhooks w where w.id = p_webhook for no key update;
    if not found then
        perform refuse_unknown('webhook');
    end if;
    if (p_url is not null and p_url <> v_webhook.url)
        or (p_has_types and p_types is distinct from v_webhook.types)
        or (p_enabled is not null and p_enabled <> v_webhook.is_enabled) then
        update webhooks w set url = coalesce(p_url, w.url),
            types = case when p_has_types then p_types else w.types end,
            is_enabled = coalesce(p_enabled, w.is_enabled),
            disabled_at = case when coalesce(p_enabled, w.is_enabled) then null else coalesce(w.disabled_at, stamp()) end,
            disabled_reason = case when coalesce(p_enabled, w.is_enabled) then null
                else coalesce(w.disabled_reason, 'admin') end,
            revision = w.revision + 1
        where w.id = p_webhook;
        if p_enabled and not v_webhook.is_enabled then
            -- Another node may begin at once: the former one has stopped.
            update webhook_states s set lease_until = '-infinity', claim = s.claim + 1 where s.webhook_id = p_webhook;
        end if;
        perform audit_note(p_actor, p_request, p_admin_key, 'webhook.update', p_subject => p_webhook::text);
    end if;
    return webhook_get(p_webhook);
end $$;

-- Deletes an endpoint with all that is known of its deliveries.
-- Fails: PY404 webhook_not_found.
-- Locks: the endpoint's row
create or replace function webhook_delete(p_actor text, p_request text, p_admin_key uuid, p_webhook uuid) returns void
language plpgsql volatile as $$
begin
    delete from webhooks w where w.id = p_webhook;
    if not found then
        perform refuse_unknown('webhook');
    end if;
    delete from webhook_states s where s.webhook_id = p_webhook;
    delete from webhook_deliveries d where d.webhook_id = p_webhook;
    delete from webhook_batches b where b.webhook_id = p_webhook;
    perform audit_note(p_actor, p_request, p_admin_key, 'webhook.delete', p_subject => p_webhook::text);
end $$;

-- Gives an endpoint a new secret. The present one also signs for `p_both_s` seconds; one before it no longer does.
-- Returns: the endpoint.
-- Fails: PY404 webhook_not_found.
-- Locks: the endpoint's row
create or replace function webhook_rotate(
    p_actor text, p_request text, p_admin_key uuid, p_webhook uuid, p_secret bytea, p_both_s int,
    p_now timestamptz default clock_timestamp()
) returns text
language plpgsql volatile as $$
begin
    update webhooks w set former_secret = w.secret, former_until = p_now + make_interval(secs => p_both_s),
        secret = p_secret, revision = w.revision + 1
    where w.id = p_webhook;
    if not found then
        perform refuse_unknown('webhook');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'webhook.rotate', p_subject => p_webhook::text);
    return webhook_get(p_webhook);
end $$;

-- Returns: what a request to an endpoint needs: its URL and the secrets that sign, the present one first.
-- Fails: PY404 webhook_not_found.
create or replace function webhook_target(p_webhook uuid, p_now timestamptz default clock_timestamp())
returns table (url text, secret bytea, former_secret bytea)
language plpgsql stable as $$
begin
    return query
    select w.url, w.secret, case when w.former_until > p_now then w.former_secret end
    from webhooks w where w.id = p_webhook;
    if not found then
        perform refuse_unknown('webhook');
    end if;
end $$;

-- Moves an endpoint back in the log, never forward: it gets all events after this point again, under the same ids.
-- Without `p_epoch` the point is the first event at or after `p_since`; both are bounded by what the log keeps.
-- Returns: the endpoint.
-- Fails: PY404 webhook_not_found; PY410 cursor_expired, when the log no longer continues from the cursor.
-- Locks: the endpoint's state
create or replace function webhook_replay(
    p_actor text, p_request text, p_admin_key uuid, p_webhook uuid, p_epoch int, p_pos bigint, p_since timestamptz
) returns text
language plpgsql volatile as $$
declare
    v_place record;
    v_pos bigint;
begin
    perform from webhook_states s where s.webhook_id = p_webhook for no key update;
    if not found then
        perform refuse_unknown('webhook');
    end if;
    if p_epoch is not null then
        select * into v_place from log_place(p_epoch, p_pos);
        if v_place.state <> 'kept' then
            perform refuse(410, 'cursor_expired',
                'The log no longer continues from this cursor. Send `since` instead.');
        end if;
        v_pos := p_pos;
    else
        v_pos := (select c.pos from change_since(p_since) c);
    end if;
    delete from webhook_deliveries d where d.webhook_id = p_webhook and d.pos > v_pos;
    update webhook_states s set pos = least(s.pos, v_pos), epoch = log_epoch(), claim = s.claim + 1,
        lease_until = '-infinity'
    where s.webhook_id = p_webhook;
    perform audit_note(p_actor, p_request, p_admin_key, 'webhook.replay', p_subject => p_webhook::text);
    return webhook_get(p_webhook);
end $$;
