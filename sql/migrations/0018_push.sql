-- Alerts to devices that no poll serves.
-- locks: none that anybody waits for; all tables are new
-- length: milliseconds
-- breaking: no

-- Where a device gets its alerts.
create table push_targets (
    session_id uuid primary key,
    user_id uuid not null,
    platform text not null check (platform in ('apns', 'fcm', 'webpush')),
    -- The device's token, or the endpoint's URL.
    token text not null,
    -- SHA-256 of platform and token. A token is one device's: who registers it last has it.
    token_digest bytea not null unique,
    -- APNs only; the topic may be null for the configured one.
    environment text check (environment in ('production', 'development')),
    topic text,
    -- Web Push only.
    p256dh bytea,
    auth bytea,
    registered_at timestamptz not null,
    -- What is at or below was decided for this device, one way or the other.
    decided_pos bigint not null
) with (fillfactor = 80);
create index push_targets_by_user on push_targets (user_id);

-- Which devices poll, and at which node. A row comes and goes with a device, and changes when it hops to another node.
create table device_polls (
    session_id uuid primary key,
    user_id uuid not null,
    -- Empty once it has gone: its alerts are about to be made (push_make).
    node text not null,
    -- What is after it in the log, as far as alerts have been made, was left to its polls; once it has gone: what it lacks.
    from_pos bigint not null
);
create index device_polls_by_node on device_polls (node);

-- How far in the log it was decided who is to be alerted.
create table push_state (
    epoch int not null,
    pos bigint not null,
    -- While the members of large threads are gone through, some at a time: for the events up to here, and how far.
    upto_pos bigint,
    thread_id uuid,
    user_id uuid,
    is_only boolean primary key default true check (is_only)
) with (fillfactor = 50);
insert into push_state (epoch, pos)
select coalesce((select max(l.epoch) from log_epochs l), 0), coalesce((select max(e.pos) from events e), 0);

-- What is to be sent. One job a device and event. The lock of a device's jobs is its row in push_targets (for no key update;
-- several by session_id, or skipping those that others have): who makes, takes, settles, stops or deletes them holds it, and
-- looks at them in a statement after. So there is always exactly one with a time, and none without a target.
create table push_jobs (
    session_id uuid not null,
    pos bigint not null,
    -- The same for every try.
    id uuid not null,
    platform text not null,
    thread_id uuid not null,
    -- Of the message; 0 for a silent one, which brings the count and takes away what was read.
    seq bigint not null,
    -- When the event happened.
    at timestamptz not null,
    -- Only a device's first job has a time, so that its alerts arrive in order: `infinity` for the others, and while it polls.
    -- While a node is at it: when another may take over.
    due_at timestamptz not null,
    attempt int not null default 0,
    primary key (session_id, pos)
) with (fillfactor = 80);
create index push_jobs_by_time on push_jobs (platform, due_at) where due_at < 'infinity';

-- What all nodes share: the key pair of Web Push, the services' provider tokens.
create table push_secrets (
    name text primary key,
    -- Empty until the first is there.
    value bytea not null,
    made_at timestamptz not null,
    -- Null: never.
    expires_at timestamptz,
    -- From when on whoever asks is to make a new one: one at a time, and another after a while if nothing comes of it.
    renew_at timestamptz not null default 'infinity'
);

-- What the devices that poll at a node surely have; null where nothing is known of them (any more).
alter table presence_nodes add column pos bigint;
