-- Adding attachments with their bytes, and their uses.

-- Adds attachments, ready. Each counts as unused until import_add_uses.
create or replace function import_add_files(p_import uuid, p_now timestamptz, p_unused_s int) returns void
language plpgsql volatile as $$
begin
    create temporary table import_new_files on commit drop as
    select a.* from import_attachments a
    where a.import_id = p_import and not exists (select from attachments e where e.id = a.id);
    insert into attachments (id, owner_id, name, declared_type, state, received, received_at, length, unused_s,
        due_at, stored_bytes, uploaded_digest, media_type, size, digest, width, height, thumbhash, thumbnail_type,
        thumbnail_size, thumbnail_digest, thumbnail_is_own, created_at)
    select a.id, a.owner_id, a.name, a.declared_type, 2, a.size, p_now, a.size, p_unused_s,
        p_now + make_interval(secs => p_unused_s), a.size + coalesce(a.thumbnail_size, 0),
        coalesce(a.uploaded_digest, a.digest), coalesce(a.media_type, 'application/octet-stream'), a.size, a.digest,
        a.width, a.height, a.thumbhash, a.thumbnail_type, a.thumbnail_size, a.thumbnail_digest,
        a.thumbnail_is_own, least(a.created_at, p_now)
    from import_new_files a order by a.id;
    perform import_add_bytes(p_import, a.id, v.variant)
    from import_new_files a cross join (values (0::smallint), (1::smallint)) v (variant);
end $$;

-- Stores the bytes of one variant of an attachment in chunks of the usual size.
-- Costs: holds the whole file in memory if the archive has it in chunks of another size
create or replace function import_add_bytes(p_import uuid, p_id uuid, p_variant smallint) returns void
language plpgsql volatile as $$
declare
    v_size constant int := 262144;
    v_bytes bytea;
    v_n int := 0;
begin
    if exists (select from import_chunks c
        where c.import_id = p_import and c.attachment_id = p_id and c.variant = p_variant
            and octet_length(c.data) % v_size <> 0
            and c.n < (select max(x.n) from import_chunks x
                where x.import_id = p_import and x.attachment_id = p_id and x.variant = p_variant)) then
        select string_agg(c.data, '' order by c.n) into v_bytes from import_chunks c
        where c.import_id = p_import and c.attachment_id = p_id and c.variant = p_variant;
        insert into attachment_chunks (attachment_id, variant, n, data)
        select p_id, p_variant, i, substring(v_bytes from i * v_size + 1 for v_size)
        from generate_series(0, (octet_length(v_bytes) - 1) / v_size) i;
        return;
    end if;
    for v_bytes in
        select c.data from import_chunks c
        where c.import_id = p_import and c.attachment_id = p_id and c.variant = p_variant and octet_length(c.data) > 0
        order by c.n
    loop
        insert into attachment_chunks (attachment_id, variant, n, data)
        select p_id, p_variant, v_n + i, substring(v_bytes from i * v_size + 1 for v_size)
        from generate_series(0, (octet_length(v_bytes) - 1) / v_size) i;
        v_n := v_n + (octet_length(v_bytes) + v_size - 1) / v_size;
    end loop;
end $$;

-- Adds the uses of attachments by new messages, earlier versions, threads and profiles.
-- Fails: 40001 (an existing attachment was deleted meanwhile).
-- Locks: existing attachments by id
create or replace function import_add_uses(p_import uuid) returns void
language plpgsql volatile as $$
begin
    create temporary table import_uses on commit drop as
    select n.id, 'message' as kind, m.thread_id as holder_id, m.seq, true as is_current,
        m.expires_at is not null as is_transient
    from import_messages x join import_heads h on h.thread_id = x.thread_id
    cross join lateral unnest(x.attachments) n (id)
    cross join lateral message_find(x.thread_id, x.id) m
    where x.import_id = p_import and x.attachments is not null and m.payload is not null
    union
    select n.id, 'message', m.thread_id, m.seq, false, m.expires_at is not null
    from import_versions v join import_heads h on h.thread_id = v.thread_id
    cross join lateral unnest(v.attachments) n (id)
    cross join lateral message_find(v.thread_id, v.message_id) m
    where v.import_id = p_import and v.attachments is not null and m.payload is not null
    union
    select substr(t.image, 12)::uuid, 'thread', t.id, 0, true, false
    from import_fates f join threads t on t.id = f.id where f.fate = 'new' and t.image like 'attachment:%'
    union
    select substr(u.profile_image, 12)::uuid, 'profile', u.id, 0, true, false
    from import_new_users n join users u on u.id = n.id where u.profile_image like 'attachment:%';

    perform from attachments a where a.id in (select u.id from import_uses u) order by a.id for no key update;
    if exists (select from import_uses u
        where not exists (select from attachments a where a.id = u.id and a.state = 2)) then
        raise exception using errcode = '40001', message = 'an attachment was deleted meanwhile';
    end if;
    insert into attachment_uses (attachment_id, kind, holder_id, seq, is_current, is_transient)
    select u.id, u.kind, u.holder_id, u.seq, bool_or(u.is_current), bool_or(u.is_transient)
    from import_uses u group by 1, 2, 3, 4;
    update attachments a set due_at = null where a.id in (select u.id from import_uses u) and a.due_at is not null;
end $$;
