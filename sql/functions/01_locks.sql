-- Locks that only Parley's user can take. PostgreSQL needs no right for advisory locks, so a host app's role could hold
-- one for ever (docs/security.md). A lock that is held often, by transactions that may write nothing, is a table
-- without rows (log_lock, …), and its functions lock it themselves. All others are rows of `lock_rows`. Both end with the
-- transaction.

-- Waits for a lock.
-- Locks: the row
-- Costs: 12 µs, and 54 bytes of WAL
create or replace function lock_row(p_purpose text, p_key int default 0) returns void
language plpgsql volatile as $$
begin
    perform from lock_rows r where r.purpose = p_purpose and r.key = p_key for update;
    if not found then
        raise exception 'there is no lock % %', p_purpose, p_key;
    end if;
end $$;

-- Takes a lock if no other transaction has it.
-- Returns: whether the caller has it.
-- Locks: the row (skipped when locked)
create or replace function lock_row_free(p_purpose text, p_key int default 0) returns boolean
language plpgsql volatile as $$
begin
    perform from lock_rows r where r.purpose = p_purpose and r.key = p_key for update skip locked;
    return found;
end $$;
