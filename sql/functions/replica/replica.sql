-- Reading from a replica, a streaming standby: what it must have, asked on the primary, and whether it has it, asked on the
-- replica. docs/decisions/database.md says why this suffices.

-- Returns: what a replica must have so that a read there shows all that the primary shows at this moment.
--   lsn             the end of the WAL of every transaction that is visible here, in bytes
--   epoch, head     the newest epoch of the log, and the last position
--   system          the system identifier of the server that opened the epoch
--   is_of_this_run  whether that was this server, since its start. Otherwise another server may have the same epoch, and
--                   have continued differently
-- STABLE, so that epoch and head are of one snapshot. It is older than `lsn`, so a replica at `lsn` has them.
-- Costs: some 0.1 ms, two thirds of it for the log's head; for any number of reads
create or replace function replica_bound(
    out lsn bigint, out epoch int, out head bigint, out system text, out is_of_this_run boolean)
language plpgsql stable as $$
begin
    select l.epoch, l.system_identifier, l.started_at is not distinct from pg_postmaster_start_time()
    into epoch, system, is_of_this_run
    from log_epochs l order by l.epoch desc limit 1;
    head := log_head();
    -- A commit is flushed before it is visible, unless commits do not wait for the disk. What is inserted and not flushed
    -- would be later than necessary: nothing hurries it to the disk, and a standby gets only what was flushed.
    lsn := case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end - '0/0'::pg_lsn;
end $$;

-- Returns: what this server lacks of a bound, for the statements after this one.
--   replayed  up to where it has replayed the WAL, in bytes; null if it never was a standby
--   lack      null: nothing; lagging; or not_a_replica: it follows no server or another one, or its log continues
--             differently
-- VOLATILE, so that the log is read in a snapshot that is later than `replayed`.
create or replace function replica_lack(
    p_lsn bigint, p_epoch int, p_head bigint, p_system text, out replayed bigint, out lack text)
language plpgsql volatile as $$
begin
    replayed := pg_last_wal_replay_lsn() - '0/0'::pg_lsn;
    lack := case
        when not pg_is_in_recovery() or replayed is null then 'not_a_replica'
        when (select c.system_identifier::text from pg_control_system() c) <> p_system then 'not_a_replica'
        when replayed < p_lsn then 'lagging'
        when log_epoch() <> p_epoch or log_head() < p_head then 'not_a_replica'
    end;
end $$;

-- Checks a bound, as the first statement of a transaction.
-- Fails: PR001 with what is lacking as the message.
create or replace function replica_check(p_lsn bigint, p_epoch int, p_head bigint, p_system text) returns void
language plpgsql volatile as $$
declare
    v_lack text := (replica_lack(p_lsn, p_epoch, p_head, p_system)).lack;
begin
    if v_lack is not null then
        raise exception using errcode = 'PR001', message = v_lack;
    end if;
end $$;
