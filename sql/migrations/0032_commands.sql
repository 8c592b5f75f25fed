-- Commands: words that members send as messages, and the addresses of the operator that answer them.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

create table commands (
    id uuid primary key,
    -- With its slash.
    word text not null unique,
    url text not null,
    description text,
    -- Null for all threads.
    thread_id uuid,
    -- The bot that posts the replies. It is a member of no thread.
    user_id uuid not null,
    is_enabled boolean not null default true,
    -- Null while enabled. gone: the address answered 410. admin: an administrator disabled it.
    disabled_at timestamptz,
    disabled_reason text check (disabled_reason in ('gone', 'admin')),
    secret bytea not null check (octet_length(secret) = 32),
    -- The secret before the last rotation also signs until former_until.
    former_secret bytea,
    former_until timestamptz,
    -- Only messages after this position run it: those that came after it was made, or enabled again.
    since_pos bigint not null,
    created_at timestamptz not null
);
create index commands_by_user on commands (user_id);

-- How far the log was searched for messages that run a command.
create table command_state (
    epoch int not null,
    pos bigint not null,
    is_only boolean primary key default true check (is_only)
) with (fillfactor = 50);
insert into command_state (epoch, pos)
select coalesce((select max(l.epoch) from log_epochs l), 0), coalesce((select max(e.pos) from events e), 0);

-- Messages that run a command and are not answered yet. The message itself is read when its time comes.
create table command_runs (
    command_id uuid not null,
    thread_id uuid not null,
    message_id uuid not null,
    -- The sender of the message.
    user_id uuid not null,
    -- evt_<lane>_<epoch>_<pos>: the message's event.
    event_id text not null,
    -- When a node may claim it: the time of its next try, or the end of the lease of the node that has it.
    due_at timestamptz not null,
    is_running boolean not null default false,
    -- Counts the claims. A node that settles with an older turn is refused.
    turn int not null default 0,
    -- Tries that failed.
    tries int not null default 0,
    -- Too many others waited: it is answered without a request.
    is_refused boolean not null default false,
    primary key (command_id, thread_id, message_id)
) with (fillfactor = 70);
create index command_runs_by_time on command_runs (command_id, due_at);
create index command_runs_running on command_runs (command_id, due_at) where is_running;
create index command_runs_by_user on command_runs (user_id);
