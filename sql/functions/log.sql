-- The log's own functions. All other functions write events only between log_begin and their commit.
-- Trimming and making partitions are in log_upkeep.sql.

-- Takes the log's lock and gives the last position written, 0 in an empty log, and the epoch of what is written next.
-- VOLATILE, so that what comes after the lock sees what its last holder committed. The lock is an advisory one: it changes
-- no row and ends with the transaction.
--
-- The first to write on another run of the server than the newest epoch's opens a new epoch, in the same transaction and
-- before its own first position. So no position is ever written on a history that a cursor can't tell from a lost one.
-- A run is known by when the server was started: a promoted standby and a cluster that a dump or a copied data directory
-- was restored into are other processes, started at other times. It is in memory (0.4 µs; the control file with the
-- system identifier takes 10) and leaves nothing out: a timeline changes only at a promotion, and within one run only
-- from a standby, which has written nothing before. An epoch that lost nothing costs nobody anything.
-- locks: the log (take it last: threads by id, then members, then the log)
create or replace function log_enter(out head bigint, out epoch int)
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_floor bigint;
    v_is_same_run boolean;
begin
    perform pg_advisory_xact_lock(7266001);
    select l.epoch, l.floor_pos, l.started_at is not distinct from pg_postmaster_start_time()
    into epoch, v_floor, v_is_same_run
    from log_epochs l order by l.epoch desc limit 1;
    head := coalesce((select e.pos from events e where e.pos >= v_floor order by e.pos desc limit 1), 0);
    if not v_is_same_run then
        epoch := log_open_epoch(head + 1);
    end if;
end $$;

-- The same, for those who don't ask for the epoch.
create or replace function log_begin() returns bigint
language sql volatile as $$
    select (log_enter()).head
$$;

-- The last position in the caller's snapshot, 0 in an empty log. All below it is in that snapshot too.
-- It is known to be at the newest epoch's `floor_pos` or later, and partitions before that are left alone: starting up
-- their scans is what the answer would cost (with 41 partitions 31 µs without a floor, 17 with).
-- In PL/pgSQL, which keeps its plans: an SQL function of one's own is planned again at every call.
-- locks: nothing
create or replace function log_head() returns bigint
language plpgsql stable
set enable_seqscan = off
as $$
declare
    v_floor bigint := (select l.floor_pos from log_epochs l order by l.epoch desc limit 1);
begin
    return coalesce((select e.pos from events e where e.pos >= v_floor order by e.pos desc limit 1), 0);
end $$;

-- Wakes the tails of all nodes, but for the one that `p_node` names: it has what was written from the call's answer.
-- At most once in a transaction. NOTIFY takes a lock over the whole server at commit.
drop function if exists log_announce(bigint);
create or replace function log_announce(p_pos bigint, p_node text default '') returns void
language sql volatile as $$
    select pg_notify('parley_log', p_pos || ' ' || p_node)
$$;

-- The epoch that new cursors carry.
create or replace function log_epoch() returns int
language plpgsql stable as $$
begin
    return (select max(l.epoch) from log_epochs l);
end $$;

-- Begins a new epoch with the position `p_first`, to be written next, and gives it. Call it with the log's lock held.
-- Epochs ascend by steps of random length, so that two databases that went on from one backup, or two standbys of one
-- primary promoted after each other, don't give one number to two histories (but for one in 65,536).
drop function if exists log_open_epoch(bigint);
create or replace function log_open_epoch(p_first bigint) returns int
language sql volatile as $$
    insert into log_epochs (epoch, first_pos, system_identifier, timeline, opened_at, started_at, floor_pos)
    select l.epoch + 1 + floor(random() * 65536)::int, p_first, c.system_identifier::text,
        -- The control file's timeline lags behind a promotion. The argument must be volatile: pg_walfile_name is declared
        -- immutable, and with a constant would be computed once for a cached plan.
        ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int,
        clock_timestamp(), pg_postmaster_start_time(), l.floor_pos
    from log_epochs l, pg_control_system() c
    order by l.epoch desc limit 1
    returning epoch
$$;

-- Whether the log still goes on from a point that somebody has read up to, all from one snapshot:
--   state      kept | lost (the log has since lost its tail, with this point) | trimmed (what follows isn't kept any more)
--   head, epoch   the last position in this snapshot, and the newest epoch
--   epoch_end  the first position after the point's epoch; null while it lasts, or when there is no such epoch
-- A point is good as long as it lies before the next epoch's start.
-- locks: nothing
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

-- A node has read the log up to a point that isn't there any more, though the epoch is the same: the server came back
-- with less than it had shown, and nothing else tells. The cursors of the lost tail must not become good again when the
-- log has grown over it.
-- locks: the log
create or replace function log_report_loss(p_epoch int, p_pos bigint) returns void
language plpgsql volatile as $$
declare
    v_head bigint := log_begin();
begin
    if log_epoch() = p_epoch and v_head < p_pos then
        perform log_open_epoch(v_head + 1);
    end if;
end $$;

-- What a node's tail reads: the events after `p_after`, in order, and the newest epoch of the snapshot they are from.
-- In turn: once those who hold the log's lock now, or wait for it, are through. A node that shares the log with other busy
-- ones waits here before it takes up a batch, and not with it: what comes meanwhile goes along.
-- In PL/pgSQL with one plan for all: by itself PostgreSQL would plan this anew at every call, since a plan that knows
-- `p_after` leaves out partitions, and planning is three quarters of what reading one event costs. VOLATILE, so that what
-- comes after the lock sees what its last holder committed.
-- Dropped first, because its columns may become more: at the end, where older nodes don't look.
-- locks: in turn, the log (shared), while it reads
drop function if exists log_turn();
drop function if exists log_read(bigint, int);
drop function if exists log_read(bigint, int, bool);
create function log_read(p_after bigint, p_limit int, p_in_turn bool default false) returns table (
    pos bigint, type text, thread_id uuid, user_id uuid, begins uuid[], ends uuid[], session_id uuid, withdraws bigint,
    body text, at timestamptz, epoch int, until_delivered boolean)
language plpgsql volatile
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off
as $$
begin
    if p_in_turn then
        perform pg_advisory_xact_lock_shared(7266001);
    end if;
    return query
    select e.pos, e.type, e.thread_id, e.user_id, e.begins, e.ends, e.session_id, e.withdraws, e.body, e.at,
        (select max(l.epoch) from log_epochs l), e.until_delivered
    from events e where e.pos > p_after order by e.pos limit p_limit;
end $$;
