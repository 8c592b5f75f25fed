-- The log's history: which run of the server an epoch was opened on, what was trimmed.
-- locks: log_epochs (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

alter table log_epochs
    -- When the server had been started. Null for the epoch that was opened before this column came.
    add column started_at timestamptz,
    -- The log's last position is this or a later one: where to look for it (log_head). Moved on now and then.
    add column floor_pos bigint not null default 0;
-- In a new database the first epoch is this run's.
update log_epochs set started_at = pg_postmaster_start_time() where not exists (select from events);

-- Partitions of the log that were trimmed, or are being: written before the first step, so that any node can go on.
create table log_trims (
    -- Positions before this are gone, or going: nothing reads them any more.
    end_pos bigint primary key,
    partition text not null,
    begun_at timestamptz not null,
    -- Null while there is something left to do.
    dropped_at timestamptz
);

-- The last position of a thread's events among those that were trimmed: by it a client whose cursor is older than the
-- log keeps is told which threads have changed.
create table thread_trims (
    thread_id uuid primary key,
    pos bigint not null
);

-- What takes their places gives other columns, or takes other arguments; the functions are made anew right after this.
drop function if exists log_extend(int, bigint);
drop function if exists sync_restart(uuid);
