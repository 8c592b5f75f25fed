-- Webhooks: endpoints of the operator that receive the events of the log.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

create table webhooks (
    id uuid primary key,
    url text not null,
    -- Null for all types.
    types text[],
    is_thin boolean not null,
    is_ordered boolean not null,
    is_enabled boolean not null default true,
    -- Null while enabled. gone: the endpoint answered 410. admin: an administrator disabled it.
    disabled_at timestamptz,
    disabled_reason text check (disabled_reason in ('gone', 'admin')),
    secret bytea not null check (octet_length(secret) = 32),
    -- The secret before the last rotation also signs until former_until.
    former_secret bytea,
    former_until timestamptz,
    -- Counts the changes, so that the node which delivers sees them.
    revision int not null default 1,
    created_at timestamptz not null
);

-- How far an endpoint is, and the node that delivers to it. Updated once a batch of deliveries.
create table webhook_states (
    webhook_id uuid primary key,
    -- Every event up to here is delivered or parked, or has a row in webhook_deliveries.
    epoch int not null,
    pos bigint not null,
    -- Events that the log dropped before they were delivered. With a filter of types some of them may not have matched.
    lost bigint not null default 0,
    -- The lease. A node that writes with an older turn is refused.
    turn bigint not null default 0,
    node text not null default '',
    lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- Events that failed, wait behind a failed one, or are parked. The event itself is read from the log again.
create table webhook_deliveries (
    webhook_id uuid not null,
    pos bigint not null,
    -- evt_<lane>_<epoch>_<pos>, as the endpoint sees it.
    event_id text not null,
    thread_id uuid,
    -- When the event happened.
    at timestamptz not null,
    -- 0 waiting behind a failed one, 1 failed, 2 parked.
    state smallint not null check (state between 0 and 2),
    tries int not null,
    -- Of the last answer; null without one.
    status int,
    -- Why the last try failed: status, timeout, address, connection.
    reason text,
    tried_at timestamptz,
    -- When it is retried; only of failed ones.
    next_at timestamptz,
    primary key (webhook_id, pos)
) with (fillfactor = 80);
create index webhook_deliveries_by_state on webhook_deliveries (webhook_id, state, pos);

-- The latest delivered events, a row for each batch.
create table webhook_batches (
    webhook_id uuid not null,
    -- The number of the batch's last event, counted from 1.
    n bigint not null,
    at timestamptz not null,
    positions bigint[] not null,
    event_ids text[] not null,
    statuses int[] not null,
    tries int[] not null,
    primary key (webhook_id, n)
);
