-- Uploads: how the bytes of an attachment arrive. Each request for an upload claims it with a number from a sequence,
-- and appends with that. So a later request ends an earlier one on any node, and no lock is held across requests.

-- Returns: the bytes that count in the account's quota. Of the upload `p_id`, if it is unfinished, only its thumbnail's.
-- Costs: an index entry for each attachment of the account
create or replace function attachment_bytes(p_owner uuid, p_id uuid) returns bigint
language plpgsql stable as $$
begin
    return (select coalesce(sum(a.stored_bytes), 0) from attachments a where a.owner_id = p_owner)
        + (select coalesce(sum(coalesce(a.thumbnail_size, 0)
                + case when a.id = p_id then 0 else greatest(a.received, a.length) end), 0)
            from attachments a where a.owner_id = p_owner and a.due_at is not null and a.state = 0);
end $$;

-- Returns: how many bytes the account may store in one upload, and whether the quota sets that bound. The upload
-- itself, as far as it has arrived, does not count.
-- Fails: PY413 attachment_too_large, PY403 quota_exceeded: the declared length, or any further byte. PY401
-- invalid_token (the account was erased meanwhile).
-- Locks: the user's row, so that simultaneous uploads of one account count in turn
-- Costs: an index entry for each attachment of the account
create or replace function attachment_room(
    p_id uuid, p_owner uuid, p_length bigint, p_size_max bigint, p_quota bigint, p_unused_max int,
    out size_max bigint, out is_bound_by_quota boolean)
language plpgsql volatile as $$
declare
    v_left bigint;
    v_unused int;
begin
    perform from users u where u.id = p_owner and u.erased_at is null for no key update;
    if not found then
        perform caller_refuse();
    elsif p_length > p_size_max then
        perform refuse(413, 'attachment_too_large', 'An attachment may have at most ' || p_size_max || ' bytes.');
    end if;
    select count(*) into v_unused
    from attachments a where a.owner_id = p_owner and a.due_at is not null and a.state < 4 and a.id <> p_id;
    if v_unused >= p_unused_max then
        perform refuse(403, 'quota_exceeded',
            'You have ' || v_unused || ' unused attachments. Send or delete some of them first.');
    end if;
    v_left := p_quota - attachment_bytes(p_owner, p_id);
    if coalesce(p_length, 1) > v_left then
        perform attachment_refuse_quota(p_quota);
    end if;
    size_max := least(p_size_max, v_left);
    is_bound_by_quota := v_left < p_size_max;
end $$;

-- Begins an upload. An unfinished one starts again from 0 bytes.
-- Returns: `claim`, `size_max` and `is_bound_by_quota` as attachment_room returns them; or, of an upload that was
-- complete before, `claim` null, `received`, and `digest` of the bytes as uploaded (null until it is known).
-- Fails: PY409 id_taken (another account's, or a deleted one that a legal hold keeps); as attachment_room.
-- Locks: the user's row, the attachment
create or replace function attachment_begin(
    p_id uuid, p_owner uuid, p_name text, p_declared_type text, p_length bigint, p_size_max bigint, p_quota bigint,
    p_unused_max int, p_unused_s int)
returns table (claim bigint, size_max bigint, is_bound_by_quota boolean, received bigint, digest bytea)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_old attachments;
begin
    -- An upload that is complete has its bytes in the quota already.
    select * into v_old from attachments a where a.id = p_id and a.owner_id = p_owner and a.state between 1 and 3;
    if not found then
        select r.size_max, r.is_bound_by_quota into size_max, is_bound_by_quota
        from attachment_room(p_id, p_owner, p_length, p_size_max, p_quota, p_unused_max) r;
        select * into v_old from attachments a where a.id = p_id for update;
    end if;
    if (v_old.state < 4 and v_old.owner_id <> p_owner) or v_old.state = 5 then
        perform refuse(409, 'id_taken', 'Another attachment has this id. Use a new id.');
    elsif v_old.state between 1 and 3 then
        size_max := null;
        is_bound_by_quota := null;
        received := v_old.received;
        digest := v_old.uploaded_digest;
        return next;
        return;
    end if;
    claim := nextval('attachment_claims');
    if v_old.state = 0 then
        -- In place: to a simultaneous HEAD, a new row with the same id would not exist yet.
        delete from attachment_chunks c where c.attachment_id = p_id;
        update attachments a set name = p_name, declared_type = p_declared_type, claim = attachment_begin.claim, received = 0,
            received_at = v_now, length = p_length, unused_s = p_unused_s, due_at = v_now + make_interval(secs => p_unused_s),
            stored_bytes = 0, thumbnail_type = null, thumbnail_size = null, thumbnail_digest = null,
            thumbnail_is_own = false, created_at = v_now
        where a.id = p_id;
        return next;
        return;
    elsif v_old.id is not null then
        perform attachment_erase(v_old);
    end if;
    insert into attachments (id, owner_id, name, declared_type, claim, length, unused_s, received_at, due_at, created_at)
    values (p_id, p_owner, p_name, p_declared_type, claim, p_length, p_unused_s, v_now,
        v_now + make_interval(secs => p_unused_s), v_now)
    on conflict (id) do nothing;
    if not found then
        perform refuse(409, 'id_taken', 'Another attachment has this id. Use a new id.');
    end if;
    return next;
end $$;

-- Continues an upload at `p_offset`. This ends the request that was appending, also with a wrong offset.
-- Returns: `claim`, null if the upload is complete or the offset is wrong; the state; the bytes received, which are
-- durable; the declared length; the bounds as attachment_room returns them.
-- Fails: PY404 attachment_not_found; PY422 (Upload-Length: another length was declared before, or fewer bytes than have
-- arrived); as attachment_room.
-- Locks: the user's row, the attachment
create or replace function attachment_resume(
    p_id uuid, p_owner uuid, p_offset bigint, p_length bigint, p_size_max bigint, p_quota bigint, p_unused_max int,
    p_unused_s int)
returns table (claim bigint, state smallint, received bigint, length bigint, size_max bigint, is_bound_by_quota boolean)
language plpgsql volatile as $$
declare
    v_upload attachments;
    v_claim bigint;
begin
    select * into v_upload from attachments a where a.id = p_id and a.owner_id = p_owner and a.state < 4;
    if v_upload.id is null then
        perform attachment_refuse();
    elsif v_upload.state = 0 then
        select r.size_max, r.is_bound_by_quota into size_max, is_bound_by_quota
        from attachment_room(p_id, p_owner, coalesce(p_length, v_upload.length), p_size_max, p_quota, p_unused_max) r;
        v_claim := nextval('attachment_claims');
        update attachments a set claim = v_claim, length = coalesce(a.length, p_length), unused_s = p_unused_s,
            due_at = stamp() + make_interval(secs => p_unused_s)
        where a.id = p_id and a.owner_id = p_owner and a.state = 0
        returning a.* into v_upload;
        if not found then
            -- It was completed or deleted meanwhile.
            return query select r.* from attachment_resume(
                p_id, p_owner, p_offset, p_length, p_size_max, p_quota, p_unused_max, p_unused_s) r;
            return;
        elsif v_upload.length <> p_length or v_upload.length < v_upload.received then
            perform refuse(422, 'invalid',
                'Must be the length that was declared first, and at least the number of received bytes.',
                'Upload-Length');
        end if;
        claim := case when v_upload.received = p_offset then v_claim end;
    end if;
    state := v_upload.state;
    received := v_upload.received;
    length := v_upload.length;
    return next;
end $$;

-- Returns: how far an upload is. The lock waits for a piece that is being stored, and makes this transaction one whose
-- commit waits for the disk, and so for all bytes that arrived before. It does not end the request that appends: what a
-- broken request has sent may still be on its way to here.
-- Fails: PY404 attachment_not_found.
-- Locks: the attachment
create or replace function attachment_progress(p_id uuid, p_owner uuid)
returns table (received bigint, length bigint, is_complete boolean)
language plpgsql volatile as $$
declare
    v_upload attachments := attachment_own(p_id, p_owner);
begin
    if v_upload.id is null then
        perform attachment_refuse();
    end if;
    return query select v_upload.received, v_upload.length, v_upload.state > 0;
end $$;

-- Appends bytes that do not cross the end of a chunk. The commit of a piece that is not durable does not wait for the
-- disk: PostgreSQL writes its log in order, so the next durable commit covers it.
-- Fails: PY409 upload_superseded.
-- A piece that begins within a chunk and does not fill it is a row of its own (variant 3, `n` is its place in the chunk):
-- otherwise each byte of a client that sends single bytes would write the chunk again. attachment_fill joins them.
-- Locks: the attachment
-- Costs: an update and an insert; the piece that fills a chunk of several pieces writes that chunk again
create or replace function attachment_append(
    p_id uuid, p_claim bigint, p_offset bigint, p_data bytea, p_is_durable boolean) returns void
language plpgsql volatile as $$
begin
    if not p_is_durable then
        -- Not as a setting of the function, which would end before the commit.
        perform set_config('synchronous_commit', 'off', true);
    end if;
    update attachments a set received = a.received + octet_length(p_data), received_at = stamp()
    where a.id = p_id and a.claim = p_claim and a.state = 0 and a.received = p_offset;
    if not found then
        perform attachment_refuse_claim();
    elsif p_offset % 262144 = 0 then
        insert into attachment_chunks (attachment_id, variant, n, data) values (p_id, 0, p_offset / 262144, p_data);
    elsif p_offset % 262144 + octet_length(p_data) < 262144 then
        insert into attachment_chunks (attachment_id, variant, n, data) values (p_id, 3, p_offset % 262144, p_data);
    else
        perform attachment_fill(p_id, (p_offset / 262144)::int, p_data);
    end if;
end $$;

-- Joins the pieces of an upload's last chunk, and `p_data` after them.
-- Locks: nothing; the caller holds the attachment
-- Costs: writes the chunk again
create or replace function attachment_fill(p_id uuid, p_n int, p_data bytea) returns void
language plpgsql volatile as $$
declare
    v_pieces bytea;
begin
    select string_agg(c.data, '' order by c.n) into v_pieces
    from attachment_chunks c where c.attachment_id = p_id and c.variant = 3;
    if v_pieces is not null then
        delete from attachment_chunks c where c.attachment_id = p_id and c.variant = 3;
    end if;
    if coalesce(octet_length(v_pieces), 0) + octet_length(p_data) > 0 then
        update attachment_chunks c set data = c.data || coalesce(v_pieces, '') || p_data
        where c.attachment_id = p_id and c.variant = 0 and c.n = p_n;
    end if;
end $$;

-- Makes durable what a request has appended. If its claim has ended, the request that ended it has done so.
create or replace function attachment_flush(p_id uuid, p_claim bigint) returns void
language sql volatile as $$
    update attachments a set received_at = stamp() where a.id = p_id and a.claim = p_claim and a.state = 0
$$;

-- Takes back what a refused request has appended: the upload has `p_offset` bytes again, as before the request. Null: the
-- request began it, so it is deleted. Does nothing if the claim has ended.
-- Locks: the attachment
create or replace function attachment_undo(p_id uuid, p_claim bigint, p_offset bigint) returns void
language plpgsql volatile as $$
begin
    perform from attachments a where a.id = p_id and a.claim = p_claim and a.state = 0 for no key update;
    if not found then
        return;
    elsif p_offset is null then
        perform attachment_bury(array[p_id]);
        return;
    end if;
    update attachments a set received = p_offset where a.id = p_id;
    delete from attachment_chunks c where c.attachment_id = p_id and c.variant = 0 and c.n * 262144::bigint >= p_offset;
    update attachment_chunks c set data = substring(c.data from 1 for (p_offset % 262144)::int)
    where c.attachment_id = p_id and c.variant = 0 and c.n = p_offset / 262144;
end $$;

-- Marks an upload as complete.
-- Returns: false if the account's quota is exceeded: then the upload is deleted.
-- Fails: PY409 upload_superseded; PY413 attachment_too_large; PY422 (Upload-Length: fewer or more bytes were declared).
-- Locks: the user's row, the attachment
create or replace function attachment_finish(
    p_id uuid, p_claim bigint, p_size_max bigint, p_quota bigint, p_unused_max int) returns boolean
language plpgsql volatile as $$
declare
    v_upload attachments;
begin
    select * into v_upload from attachments a where a.id = p_id;
    perform from users u where u.id = v_upload.owner_id for no key update;
    select * into v_upload from attachments a
    where a.id = p_id and a.claim = p_claim and a.state = 0 for no key update;
    if not found then
        perform attachment_refuse_claim();
    elsif v_upload.length <> v_upload.received then
        perform refuse(422, 'invalid',
            'The upload has ' || v_upload.received || ' bytes, but ' || v_upload.length
                || ' were declared. Continue it, or begin it again.', 'Upload-Length');
    end if;
    begin
        -- An empty file needs no room.
        if v_upload.received > 0 then
            perform attachment_room(p_id, v_upload.owner_id, v_upload.received, p_size_max, p_quota, p_unused_max);
        end if;
    exception when sqlstate 'PY403' then
        perform attachment_bury(array[p_id]);
        return false;
    end;
    if v_upload.received % 262144 > 0 then
        perform attachment_fill(p_id, (v_upload.received / 262144)::int, '');
    end if;
    -- Infinity: it does not expire before it was checked. The node that serves this request claims it next, because the
    -- client waits. Others find it after some seconds.
    update attachments a set state = 1, length = a.received,
        stored_bytes = a.received + coalesce(a.thumbnail_size, 0), due_at = 'infinity', claim = 0,
        lease_until = stamp() + interval '5 seconds'
    where a.id = p_id;
    return true;
end $$;
