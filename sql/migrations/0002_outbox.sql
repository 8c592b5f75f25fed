-- The outbox. `parley outbox install` applies this file to databases of other programs, too, again after each upgrade, with
-- the schema `parley` as search path: what is there already stays.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

-- The outbox: messages and members that other programs write in transactions of their own, by SQL. The schema `parley`
-- is for these programs. Parley's own tables stay in their schema, and Parley's sessions leave `parley` out of their
-- search path (SessionSettings), also where it is the schema of their user's name.

-- `create schema if not exists` needs the right to create schemas even if the schema exists.
do $$
begin
    if to_regnamespace('parley') is null then
        create schema parley;
    end if;
end $$;

-- Rows wait here until a node handles them, in the order of `seq`. Rows commit in any order.
create table if not exists outbox (
    seq bigint generated always as identity primary key,
    -- send | add_member | ensure_direct
    kind text not null check (kind in ('send', 'add_member', 'ensure_direct')),
    thread_id uuid not null,
    -- The sender, the new member, or the first person of a direct thread.
    user_id uuid not null,
    -- The second person of a direct thread.
    other_id uuid,
    -- Of a message.
    message_id uuid,
    payload json,
    -- The ids in the payload. Null for a message without attachments.
    attachments uuid[],
    at timestamptz not null default clock_timestamp()
);
create index if not exists outbox_by_thread on outbox (thread_id, message_id);

-- Rows that could not be handled: what they asked for was refused after the commit.
create table if not exists outbox_failures (
    id uuid primary key default gen_random_uuid(),
    kind text not null,
    thread_id uuid not null,
    user_id uuid not null,
    other_id uuid,
    message_id uuid,
    attachments uuid[],
    -- Null also for a message whose sender has been erased.
    payload json,
    at timestamptz not null,
    failed_at timestamptz not null default clock_timestamp(),
    -- A problem code of the API, and a sentence.
    code text not null,
    detail text not null
);
create index if not exists outbox_failures_by_user on outbox_failures (user_id);

-- The limits that parley.send checks, as the nodes are configured.
create table if not exists outbox_limits (
    text_bytes_max int not null default 16384,
    payload_bytes_max int not null default 65536,
    is_only boolean primary key default true check (is_only)
);
insert into outbox_limits default values on conflict do nothing;
