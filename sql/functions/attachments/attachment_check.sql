-- Work on complete files: metadata, thumbnail, virus scan. A claim is a lease, so that another node finishes what a
-- dead node began.

-- Claims attachments to be checked, the longest waiting first: `p_id`, or any for null. `p_id` need not wait if nobody
-- has claimed it yet.
-- Locks: the attachments (skips locked ones)
-- Costs: an index probe when none is due
create or replace function attachment_claim(p_id uuid, p_limit int, p_lease_s int)
returns table (id uuid, claim bigint, received bigint, declared_type text, checks smallint, is_hashed boolean,
    owner_id uuid)
language plpgsql volatile
set enable_sort = off
as $$
#variable_conflict use_column
begin
    return query
    update attachments a set claim = nextval('attachment_claims'),
        lease_until = stamp() + make_interval(secs => p_lease_s), checks = a.checks + 1
    where a.id = any (case when p_id is null
        then array(select x.id from attachments x where x.state = 1 and x.lease_until <= stamp()
            order by x.lease_until limit p_limit for update skip locked)
        else array(select x.id from attachments x
            where x.id = p_id and x.state = 1 and (x.claim = 0 or x.lease_until <= stamp()) for update skip locked) end)
    returning a.id, a.claim, a.received, a.declared_type, a.checks, a.uploaded_digest is not null,
        a.owner_id;
end $$;

-- Returns: the attachment that was claimed, locked. A held one (state 5) counts as ready.
-- Fails: PY409 upload_superseded (another node has claimed it since, or it was deleted).
create or replace function attachment_claimed(p_id uuid, p_claim bigint, p_state int) returns attachments
language plpgsql volatile as $$
declare
    v_attachment attachments;
begin
    select * into v_attachment from attachments a
    where a.id = p_id and a.claim = p_claim and (a.state = p_state or (a.state = 5 and p_state = 2)) for no key update;
    if not found then
        perform attachment_refuse_claim();
    end if;
    return v_attachment;
end $$;

-- Extends the lease, and stores the digest of the bytes as uploaded if it is given.
-- Fails: as attachment_claimed.
create or replace function attachment_extend(p_id uuid, p_claim bigint, p_lease_s int, p_digest bytea) returns void
language plpgsql volatile as $$
begin
    perform attachment_claimed(p_id, p_claim, 1);
    update attachments a set lease_until = stamp() + make_interval(secs => p_lease_s),
        uploaded_digest = coalesce(p_digest, a.uploaded_digest)
    where a.id = p_id;
end $$;

-- Writes a chunk of a claimed attachment in the state `p_state`. The first one deletes what is there of its variant. A
-- thumbnail is ignored if there is the owner's own. The commit does not wait for the disk; that of attachment_ready or
-- attachment_move_end does.
-- Fails: as attachment_claimed.
create or replace function attachment_put_chunk(
    p_id uuid, p_claim bigint, p_state int, p_variant smallint, p_n int, p_data bytea) returns void
language plpgsql volatile as $$
declare
    v_attachment attachments := attachment_claimed(p_id, p_claim, p_state);
begin
    perform set_config('synchronous_commit', 'off', true);
    if p_variant = 1 and p_state = 1 and v_attachment.thumbnail_is_own then
        return;
    end if;
    if p_n = 0 then
        delete from attachment_chunks c where c.attachment_id = p_id and c.variant = p_variant;
    end if;
    insert into attachment_chunks as c (attachment_id, variant, n, data) values (p_id, p_variant, p_n, p_data)
    on conflict (attachment_id, variant, n) do update set data = excluded.data;
end $$;

-- Makes an attachment ready. With `p_uses_cleaned` the cleaned bytes take the place of the original: only the key of
-- their chunks changes, the bytes themselves are not written again.
-- Fails: as attachment_claimed.
create or replace function attachment_ready(
    p_id uuid, p_claim bigint, p_uploaded_digest bytea, p_media_type text, p_size bigint, p_digest bytea,
    p_uses_cleaned boolean, p_width int, p_height int, p_thumbhash bytea, p_thumbnail_type text, p_thumbnail_size int,
    p_thumbnail_digest bytea) returns void
language plpgsql volatile as $$
declare
    v_is_own boolean := (attachment_claimed(p_id, p_claim, 1)).thumbnail_is_own;
begin
    delete from attachment_chunks c
    where c.attachment_id = p_id and (c.variant = case when p_uses_cleaned then 0 else 2 end
        or (c.variant = 1 and p_thumbnail_digest is null and not v_is_own));
    if p_uses_cleaned then
        update attachment_chunks c set variant = 0 where c.attachment_id = p_id and c.variant = 2;
    end if;
    update attachments a set state = 2, uploaded_digest = p_uploaded_digest, media_type = p_media_type, size = p_size,
        digest = p_digest, width = p_width, height = p_height, thumbhash = p_thumbhash,
        thumbnail_type = case when v_is_own then a.thumbnail_type else p_thumbnail_type end,
        thumbnail_size = case when v_is_own then a.thumbnail_size else p_thumbnail_size end,
        thumbnail_digest = case when v_is_own then a.thumbnail_digest else p_thumbnail_digest end,
        stored_bytes = p_size + coalesce(case when v_is_own then a.thumbnail_size else p_thumbnail_size end, 0),
        due_at = stamp() + make_interval(secs => a.unused_s), lease_until = '-infinity'
    where a.id = p_id;
end $$;

-- Refuses an attachment: its bytes are deleted, and the audit log gets a row. The owner sees the state until it
-- expires.
-- Fails: as attachment_claimed.
create or replace function attachment_reject(p_id uuid, p_claim bigint, p_reason text) returns void
language plpgsql volatile as $$
declare
    v_attachment attachments := attachment_claimed(p_id, p_claim, 1);
begin
    delete from attachment_chunks c where c.attachment_id = p_id;
    update attachments a set state = 3, stored_bytes = 0, thumbnail_type = null, thumbnail_size = null,
        thumbnail_digest = null, due_at = stamp() + make_interval(secs => a.unused_s)
    where a.id = p_id;
    perform audit_note('attachment check', null, null, 'attachment.refused: ' || left(p_reason, 200),
        v_attachment.owner_id);
end $$;

-- Ends a claim. The attachment can be claimed again after `p_wait_s`.
-- Fails: as attachment_claimed.
create or replace function attachment_postpone(p_id uuid, p_claim bigint, p_wait_s int) returns void
language plpgsql volatile as $$
begin
    perform attachment_claimed(p_id, p_claim, 1);
    update attachments a set claim = nextval('attachment_claims'),
        lease_until = stamp() + make_interval(secs => p_wait_s), checks = 0
    where a.id = p_id;
end $$;
