-- Finding the lines of an archive that contradict each other or name what does not exist. What a line says by itself
-- was checked before it was staged.

-- Deletes lines that say the same as an earlier one, and looks for bad lines.
-- Returns: the first bad line and what is wrong with it; nulls if there is none.
-- Locks: the import
-- Costs: scans and hash joins of all staged lines, 5 s for a million messages
create or replace function import_check(p_import uuid, out line bigint, out detail text)
language plpgsql volatile
set work_mem = '64MB' set enable_hashjoin = on set enable_mergejoin = on
as $$
begin
    perform import_lock(p_import);
    update imports i set touched_at = stamp() where i.id = p_import;
    perform import_analyze();
    select b.line, b.detail into line, detail
    from (
        select r.line, 'This ' || r.kind || ' is in an earlier line with another content.'
        from import_unrepeat(p_import) r where r.line is not null
        union all select * from import_bad_people(p_import)
        union all select * from import_bad_threads(p_import)
        union all select * from import_bad_members(p_import)
        union all select * from import_bad_messages(p_import)
        union all select * from import_bad_parts(p_import)
        union all select * from import_bad_files(p_import)
    ) b (line, detail)
    order by b.line limit 1;
end $$;

-- Gives the planner the numbers of rows: the staging tables fill faster than autovacuum looks.
create or replace function import_analyze() returns void
language plpgsql volatile as $$
begin
    analyze import_users, import_blocks, import_threads, import_members, import_messages, import_versions,
        import_reactions, import_receipts, import_hides, import_attachments,
        import_chunks (import_id, line, attachment_id, variant, n);
end $$;

-- Deletes lines that repeat an earlier one.
-- Returns: for each kind, the first line that has the key of an earlier one and another content; null for none.
create or replace function import_unrepeat(p_import uuid) returns table (kind text, line bigint)
language plpgsql volatile as $$
declare
    v_table text;
    v_key text;
begin
    for kind, v_table, v_key in values
        ('user', 'import_users', 'id'), ('block', 'import_blocks', 'user_id, blocked_id'),
        ('thread', 'import_threads', 'id'), ('member', 'import_members', 'thread_id, user_id'),
        ('message', 'import_messages', 'thread_id, id'),
        ('message_version', 'import_versions', 'thread_id, message_id, version'),
        ('reaction', 'import_reactions', 'thread_id, message_id, user_id, emoji'),
        ('receipt', 'import_receipts', 'thread_id, user_id, kind, seq'),
        ('hidden_message', 'import_hides', 'thread_id, user_id, message_id'),
        ('attachment', 'import_attachments', 'id'),
        ('attachment_data', 'import_chunks', 'attachment_id, variant, n')
    loop
        execute format($query$
            with repeated as (
                select r.ctid as place, r.line, row_number() over w as n,
                    first_value(to_jsonb(r) - 'line') over w = to_jsonb(r) - 'line' as is_same
                from %1$s r
                where r.import_id = $1 and (%2$s) in (
                    select %2$s from %1$s x where x.import_id = $1 group by %2$s having count(*) > 1)
                window w as (partition by %2$s order by r.line)
            ), gone as (
                delete from %1$s d using repeated r where d.ctid = r.place and r.n > 1 and r.is_same
            )
            select min(r.line) from repeated r where r.n > 1 and not r.is_same$query$, v_table, v_key)
        into line using p_import;
        return next;
    end loop;
end $$;
