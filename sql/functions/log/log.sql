-- The log. All functions write events only between log_begin, or log_enter, and their commit. log_read.sql reads it;
-- log_maintenance.sql makes and drops its partitions.

-- Locks the log.
-- Returns: `head`, the last position written, 0 in an empty log; `epoch`, the epoch of the events written next.
-- VOLATILE, so that statements after the lock see what its previous holder committed. The lock is a table without rows:
-- locking it writes nothing, ends with the transaction, and needs a right that only Parley's user has.
--
-- The first writer after a restart of the server opens a new epoch, in the same transaction and before its own first
-- position. So no position is ever written in an epoch that a cursor cannot tell from a lost one. Restarts are found
-- by the server's start time: a promoted standby, and a cluster that a dump or a copied data directory was restored
-- into, are other processes with other start times. The start time is in memory (0.4 µs; the control file with the
-- system identifier takes 10 µs), and it misses nothing: the timeline changes only at a promotion, and within one run
-- only that of a standby, which has written nothing before. An epoch that lost nothing has no effect on clients.
-- Locks: the log. Lock it last: threads by id, then members, then the log
create or replace function log_enter(out head bigint, out epoch int)
language plpgsql volatile as $$
declare
    v_floor bigint;
    v_is_same_run boolean;
begin
    lock table log_lock in share update exclusive mode;
    select l.epoch, l.floor_pos, l.started_at is not distinct from pg_postmaster_start_time()
    into epoch, v_floor, v_is_same_run
    from log_epochs l order by l.epoch desc limit 1;
    head := coalesce((select e.pos from events e where e.pos >= v_floor order by e.pos desc limit 1), 0);
    if not v_is_same_run then
        epoch := log_open_epoch(head + 1);
    end if;
end $$;

-- The same for callers that do not need the epoch.
create or replace function log_begin() returns bigint
language sql volatile as $$
    select (log_enter()).head
$$;

-- Returns: the last position in the caller's snapshot, 0 in an empty log. The snapshot has all positions below it. The
-- head is at the newest epoch's `floor_pos` or later, so earlier partitions are left out: starting their scans is most
-- of the cost (with 41 partitions 31 µs without a floor, 17 µs with it). In PL/pgSQL, which keeps its plans.
create or replace function log_head() returns bigint
language plpgsql stable as $$
declare
    v_floor bigint := (select l.floor_pos from log_epochs l order by l.epoch desc limit 1);
begin
    return coalesce((select e.pos from events e where e.pos >= v_floor order by e.pos desc limit 1), 0);
end $$;

-- Notifies the tails of all nodes except `p_node`, which has the events from the call's answer. Call it at most once
-- in a transaction: NOTIFY takes a lock over the whole server at commit. Only nodes know the channel. `is_only` is the
-- primary key: a scan of the table seems expensive to sessions that avoid such scans, and would be compiled.
create or replace function log_announce(p_pos bigint, p_node text default '') returns void
language plpgsql volatile as $$
begin
    perform pg_notify(c.log, p_pos || ' ' || p_node) from node_channels c where c.is_only;
end $$;

-- Returns: the channels of the notifications between nodes, the key that seals typing and presence, and the time.
create or replace function node_channels_get(out log text, out presence text, out key bytea, out now timestamptz)
language plpgsql volatile as $$
begin
    select c.log, c.presence, c.key, clock_timestamp() into log, presence, key, now
    from node_channels c where c.is_only;
end $$;

-- Returns: the epoch that new cursors carry.
create or replace function log_epoch() returns int
language plpgsql stable as $$
begin
    return (select max(l.epoch) from log_epochs l);
end $$;

-- Opens a new epoch with the position `p_first`, which is written next. Epochs ascend by steps of random length. So
-- two databases that continue from one backup, or two standbys of one primary that are promoted one after the other,
-- give their epochs different numbers (except once in 65,536).
-- Returns: the epoch.
-- Locks: the caller holds the log
create or replace function log_open_epoch(p_first bigint) returns int
language sql volatile as $$
    insert into log_epochs (epoch, first_pos, system_identifier, timeline, opened_at, started_at, floor_pos)
    select l.epoch + 1 + floor(random() * 65536)::int, p_first, c.system_identifier::text,
        -- The control file's timeline lags behind a promotion. The argument must be volatile: pg_walfile_name is declared
        -- immutable, and with a constant argument a cached plan computes it once.
        ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
        clock_timestamp(), pg_postmaster_start_time(), l.floor_pos
    from log_epochs l, pg_control_system() c
    order by l.epoch desc limit 1
    returning epoch
$$;

-- Returns: whether the log continues from a point that somebody has read up to, all from one snapshot:
--   state         kept | lost (the log has lost its tail, including this point) | trimmed (some of what follows was
--                 trimmed)
--   head, epoch   the last position in this snapshot, and the newest epoch
--   epoch_end     the first position after the point's epoch; null while it lasts, or when there is no such epoch
-- A point is valid as long as it lies before the next epoch's start.
create or replace function log_place(p_epoch int, p_pos bigint)
returns table (state text, head bigint, epoch int, epoch_end bigint)
language plpgsql stable as $$
declare
    v_is_known boolean := exists (select from log_epochs l where l.epoch = p_epoch);
begin
    head := log_head();
    epoch := log_epoch();
    if v_is_known then
        select l.first_pos into epoch_end from log_epochs l where l.epoch > p_epoch order by l.epoch limit 1;
    end if;
    state := case
        when not v_is_known or p_pos > head or p_pos >= epoch_end then 'lost'
        when p_pos < (select t.end_pos - 1 from log_trims t order by t.end_pos desc limit 1) then 'trimmed'
        else 'kept' end;
    return next;
end $$;

-- Opens a new epoch if the log ends before a point that a node has read, in the same epoch: the server came back with
-- less than it had shown, and nothing else says so. Otherwise the cursors of the lost tail would become valid again
-- when the log grows over them.
-- Locks: the log
create or replace function log_report_loss(p_epoch int, p_pos bigint) returns void
language plpgsql volatile as $$
declare
    v_head bigint := log_begin();
begin
    if log_epoch() = p_epoch and v_head < p_pos then
        perform log_open_epoch(v_head + 1);
    end if;
end $$;
