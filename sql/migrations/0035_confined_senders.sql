-- Confines the role `parley_sender` and every other user of the database that is not Parley's. PostgreSQL needs no right
-- for an advisory lock, for LISTEN, or for NOTIFY, so Parley uses tables for its locks, and channels whose names nobody
-- else knows. A user who may use a schema can also lock its tables without any right to them: CREATE RULE takes an
-- exclusive lock before it checks who owns the table. So nobody but Parley's user may use the schema of Parley's tables.
-- locks: the three tables of the outbox (access exclusive)
-- length: milliseconds
-- breaking: yes

-- Tables without rows, only to be locked. `share update exclusive` locks one against itself, `share` is for those who
-- may hold the lock together. `update`, `delete` or `truncate` is needed for both, and only the owner has these rights.
-- The log: log_enter, log_read.
create table log_lock ();
-- Planning alerts: push_plan, device_poll_put.
create table push_plan_lock ();
-- Legal holds: hold_enter, hold_exclude.
create table hold_lock ();
-- Commands: command_step and what changes commands.
create table command_lock ();

-- Rows only to be locked (lock_row), for locks of transactions that write in any case, and for locks by key. Locking a
-- row makes no new version of it.
create table lock_rows (
    purpose text not null,
    key int not null,
    primary key (purpose, key)
);
insert into lock_rows (purpose, key)
select p.purpose, 0 from unnest(array['consumers', 'erasure walk', 'imports', 'log maintenance', 'outbox', 'presence',
    'webhooks']) p (purpose)
union all select 'pairs', k from generate_series(0, 1023) k
union all select 'push tokens', k from generate_series(0, 1023) k
union all select 'search', k from generate_series(0, 4095) k;

-- The session that trims the log, as pg_stat_activity shows it. Its work spans transactions, and no lock of a table does.
create table log_trimmer (
    pid int,
    backend_start timestamptz,
    is_only boolean primary key default true check (is_only)
);
insert into log_trimmer default values;

-- The channels of the notifications between nodes, and the key that seals typing and presence. Their random parts have
-- 122 bits, and the key has 244.
create table node_channels (
    log text not null,
    presence text not null,
    key bytea not null,
    is_only boolean primary key default true check (is_only)
);
insert into node_channels (log, presence, key)
select 'parley_log_' || replace(gen_random_uuid()::text, '-', ''),
    'parley_presence_' || replace(gen_random_uuid()::text, '-', ''),
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());

-- The tables of the outbox join Parley's own. Other programs may use the schema `parley`, so it has only functions.
do $$
declare
    v_schema text := current_schema();
begin
    if v_schema <> 'parley' then
        execute format('alter table parley.outbox set schema %I', v_schema);
        execute format('alter table parley.outbox_failures set schema %I', v_schema);
        execute format('alter table parley.outbox_limits set schema %I', v_schema);
    end if;
end $$;

-- A role that needs Parley's schema gets `grant usage on schema … to …`: a migration runs once. Where Parley's user does
-- not own the schema, its owner has to do this (docs/sql.md).
do $$
begin
    execute format('revoke usage on schema %I from public', current_schema());
exception when insufficient_privilege then
    raise notice 'the owner of the schema % has to revoke its usage from public', current_schema();
end $$;
