-- Imports of archives: beginning, continuing and dropping them. import_stage.sql receives the lines, import_check.sql
-- finds mistakes, import_plan.sql decides what is new, import_apply.sql makes it visible.

-- Begins an import, or finds the one of the same file (`p_digest`, SHA-256). Always begins one if `p_digest` is null.
-- Returns: the import, and how many bytes and lines of the file are staged.
-- Locks: the digest's unique key
create or replace function import_begin(p_digest bytea)
returns table (import_id uuid, staged_bytes bigint, staged_lines bigint)
language plpgsql volatile as $$
begin
    insert into imports (id, digest, created_at, touched_at) values (uuid_v7(stamp()), p_digest, stamp(), stamp())
    on conflict (digest) do update set touched_at = excluded.touched_at
    returning id, bytes, lines into import_id, staged_bytes, staged_lines;
    return next;
end $$;

-- Returns: the import, locked.
-- Fails: PY409 import_ended (it was dropped or applied).
create or replace function import_lock(p_import uuid) returns imports
language plpgsql volatile as $$
declare
    v_import imports;
begin
    select * into v_import from imports i where i.id = p_import for update;
    if not found then
        perform refuse(409, 'import_ended', 'This import has ended, or was abandoned for too long. Start it again.');
    end if;
    return v_import;
end $$;

-- Deletes an import with all its staged lines. Does nothing if there is none.
-- Locks: the import
-- Costs: as many rows as lines are staged
create or replace function import_drop(p_import uuid) returns void
language plpgsql volatile as $$
begin
    delete from imports i where i.id = p_import;
    if not found then
        return;
    end if;
    delete from import_users x where x.import_id = p_import;
    delete from import_blocks x where x.import_id = p_import;
    delete from import_threads x where x.import_id = p_import;
    delete from import_members x where x.import_id = p_import;
    delete from import_messages x where x.import_id = p_import;
    delete from import_versions x where x.import_id = p_import;
    delete from import_reactions x where x.import_id = p_import;
    delete from import_receipts x where x.import_id = p_import;
    delete from import_hides x where x.import_id = p_import;
    delete from import_attachments x where x.import_id = p_import;
    delete from import_chunks x where x.import_id = p_import;
end $$;

-- Drops one import that has received nothing for a long time. One with a digest may be continued, so it is kept for
-- longer. An import that receives lines or is applied is locked, and skipped.
-- Returns: whether there was one.
-- Locks: the import (skips a locked one)
create or replace function import_sweep(p_idle_s int, p_file_idle_s int, p_now timestamptz default null) returns boolean
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_import uuid := (select i.id from imports i
        where i.touched_at <= v_now - make_interval(secs => case when i.digest is null then p_idle_s else p_file_idle_s end)
        limit 1 for update skip locked);
begin
    perform import_drop(v_import);
    return v_import is not null;
end $$;
