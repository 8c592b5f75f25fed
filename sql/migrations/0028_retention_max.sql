-- A longest retention of the whole service (PARLEY_RETENTION_MAX).
-- locks: none that matter, the table is new
-- length: milliseconds
-- breaking: no

-- Up to which message each thread has been cleared of what is older than that. No row: from its first message on.
create table retention_walks (
    thread_id uuid primary key,
    seq bigint not null
);
