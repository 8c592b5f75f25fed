-- The bytes of staged files. Before an import is applied, the service reads them: it does not trust the file types that
-- an archive names, and it removes the metadata of pictures.

-- Returns: the staged variants of attachments that do not exist here, after `p_after`, by attachment: the first line,
-- the first 4 KiB (fewer if the archive has it in pieces that are very small), and how many bytes it has.
-- Costs: a few index probes for each
create or replace function import_files(p_import uuid, p_after uuid, p_limit int)
returns table (line bigint, id uuid, variant smallint, byte_count bigint, head bytea)
language plpgsql stable as $$
begin
    return query
    select f.line, f.id, v.variant, v.size, coalesce(h.head, '')
    from (
        select a.* from import_attachments a
        where a.import_id = p_import and (p_after is null or a.id > p_after)
            and not exists (select from attachments e where e.id = a.id)
        order by a.id limit p_limit) f
    cross join lateral (values (0::smallint, f.size), (1::smallint, f.thumbnail_size::bigint)) v (variant, size)
    cross join lateral (
        select string_agg(substring(c.data from 1 for 4096), '' order by c.n) as head
        from (select x.n, x.data from import_chunks x
            where x.import_id = p_import and x.attachment_id = f.id and x.variant = v.variant
            order by x.n limit 8) c) h
    where v.size is not null
    order by f.id, v.variant;
end $$;

-- Returns: the next piece of a staged file after the piece `p_after`; no row at its end.
create or replace function import_file_read(p_import uuid, p_id uuid, p_variant smallint, p_after int)
returns table (n int, data bytea)
language plpgsql stable as $$
begin
    return query select c.n, c.data from import_chunks c
    where c.import_id = p_import and c.attachment_id = p_id and c.variant = p_variant and c.n > p_after
    order by c.n limit 1;
end $$;

-- Stages a piece of the bytes that replace those of a file (variant 2). The first piece deletes the pieces of an
-- earlier try.
create or replace function import_file_write(p_import uuid, p_line bigint, p_id uuid, p_n int, p_data bytea)
returns void
language plpgsql volatile as $$
begin
    if p_n = 0 then
        delete from import_chunks c where c.import_id = p_import and c.attachment_id = p_id and c.variant = 2;
    end if;
    insert into import_chunks (import_id, line, attachment_id, variant, n, data)
    values (p_import, p_line, p_id, 2, p_n, p_data);
end $$;

-- Records the types of files, as the service found them, and the sizes of readable pictures (null for others). Renews
-- the time at which the import was last used.
-- Fails: PY409 import_ended.
-- Locks: the import
create or replace function import_files_put(
    p_import uuid, p_ids uuid[], p_types text[], p_widths int[], p_heights int[]) returns void
language plpgsql volatile as $$
begin
    perform import_lock(p_import);
    update imports i set touched_at = stamp() where i.id = p_import;
    update import_attachments a set media_type = f.media_type, width = f.width, height = f.height
    from unnest(p_ids, p_types, p_widths, p_heights) f (id, media_type, width, height)
    where a.import_id = p_import and a.id = f.id;
end $$;

-- Replaces the staged pieces of a variant by those of variant 2.
-- Fails: PY409 import_ended.
-- Locks: the import
create or replace function import_file_replace(
    p_import uuid, p_id uuid, p_variant smallint, p_media_type text, p_size bigint, p_digest bytea) returns void
language plpgsql volatile as $$
begin
    perform import_lock(p_import);
    delete from import_chunks c where c.import_id = p_import and c.attachment_id = p_id and c.variant = p_variant;
    update import_chunks c set variant = p_variant
    where c.import_id = p_import and c.attachment_id = p_id and c.variant = 2;
    if p_variant = 0 then
        update import_attachments a set uploaded_digest = coalesce(a.uploaded_digest, a.digest), digest = p_digest,
            size = p_size
        where a.import_id = p_import and a.id = p_id;
    else
        update import_attachments a set thumbnail_type = p_media_type, thumbnail_digest = p_digest,
            thumbnail_size = p_size
        where a.import_id = p_import and a.id = p_id;
    end if;
end $$;

-- Returns: whether the archive has the bytes of an attachment that exists here. Only then may its messages and pictures
-- name it: otherwise an archive could show a private file to anybody, by its id.
-- Costs: reads the staged bytes, if their digest is the stored one
create or replace function import_has_bytes(p_import uuid, p_id uuid) returns boolean
language plpgsql stable as $$
declare
    v_digest bytea := (select coalesce(a.uploaded_digest, a.digest) from import_attachments a
        join attachments e on e.id = a.id
        where a.import_id = p_import and a.id = p_id and e.state = 2
            and coalesce(a.uploaded_digest, a.digest) in (e.digest, e.uploaded_digest));
begin
    return v_digest is not null and v_digest = (
        select sha256(coalesce(string_agg(c.data, '' order by c.n), '')) from import_chunks c
        where c.import_id = p_import and c.attachment_id = p_id and c.variant = 0);
end $$;
