-- Moving files between PostgreSQL and the object store. A key is in the list of garbage from before it is written until
-- the row says that it is there. So a crash leaves no object behind, and nothing ever lists the store.

-- Returns: the keys of an attachment's variants.
create or replace function attachment_keys(p_id uuid) returns table (variant smallint, key text)
language sql stable parallel safe as $$
    select v.variant::smallint, 'parley/' || p_id || '/' || v.variant from generate_series(0, 1) v (variant)
$$;

-- Sets the place where all attachments belong: the object store, or PostgreSQL.
create or replace function attachment_place_put(p_is_store boolean) returns void
language plpgsql volatile as $$
begin
    update attachment_place p set is_store = p_is_store;
end $$;

-- Claims ready and held attachments of which a variant is not in the wanted place; none unless that is where all belong
-- (attachment_place_put). An attachment with a key that is still to be deleted waits for that.
-- Returns: a row for each variant to move.
-- Locks: the attachments (skips locked ones)
-- Costs: an index probe when there are none
create or replace function attachment_move_claim(p_is_to_store boolean, p_limit int, p_lease_s int)
returns table (id uuid, claim bigint, variant smallint, media_type text, size bigint, digest bytea)
language plpgsql volatile
set enable_sort = off
as $$
#variable_conflict use_column
declare
    v_until timestamptz := stamp() + make_interval(secs => p_lease_s);
    v_ids uuid[];
begin
    if p_is_to_store <> (select p.is_store from attachment_place p) then
        return;
    elsif p_is_to_store then
        v_ids := array(select a.id from attachments a
            where a.state in (2, 5) and not (a.is_moved and (a.thumbnail_is_moved or a.thumbnail_digest is null))
                and a.lease_until <= stamp()
                and not exists (select from attachment_keys(a.id) k join attachment_garbage g on g.key = k.key)
            order by a.lease_until limit p_limit for update of a skip locked);
    else
        v_ids := array(select a.id from attachments a
            where a.state in (2, 5) and (a.is_moved or a.thumbnail_is_moved) and a.lease_until <= stamp()
            order by a.lease_until limit p_limit for update of a skip locked);
    end if;
    update attachments a set claim = nextval('attachment_claims'), lease_until = v_until where a.id = any (v_ids);
    return query
    select a.id, a.claim, v.variant, v.media_type, v.size, v.digest
    from attachments a cross join lateral (values
        (0::smallint, a.media_type, a.size, a.digest, a.is_moved),
        (1::smallint, a.thumbnail_type, a.thumbnail_size::bigint, a.thumbnail_digest, a.thumbnail_is_moved)
    ) v (variant, media_type, size, digest, is_moved)
    where a.id = any (v_ids) and v.digest is not null and v.is_moved <> p_is_to_store
    order by a.id, v.variant;
    if p_is_to_store then
        insert into attachment_garbage (key, next_at)
        select k.key, v_until
        from attachments a cross join lateral attachment_keys(a.id) k
        where a.id = any (v_ids) and case k.variant when 0 then not a.is_moved
            else a.thumbnail_digest is not null and not a.thumbnail_is_moved end;
    end if;
end $$;

-- Extends the lease of a move, and the retry time of the keys that it writes.
-- Returns: false if the attachment was deleted or the lease has ended
-- Locks: the attachment, the keys
create or replace function attachment_move_extend(p_id uuid, p_claim bigint, p_variants smallint[], p_lease_s int)
returns boolean
language plpgsql volatile as $$
declare
    v_until timestamptz := stamp() + make_interval(secs => p_lease_s);
begin
    update attachments a set lease_until = v_until
    where a.id = p_id and a.claim = p_claim and a.state in (2, 5) and a.lease_until > stamp();
    if not found then
        return false;
    end if;
    update attachment_garbage g set next_at = v_until
    where g.key in (select k.key from attachment_keys(p_id) k where k.variant = any (p_variants)) and g.attempts = 0;
    return true;
end $$;

-- Returns: the number of ready and held attachments with a variant that is not in the wanted place, of those created before a
-- time.
-- Costs: a row for each
create or replace function attachment_move_backlog(p_is_to_store boolean, p_before timestamptz) returns bigint
language plpgsql stable as $$
begin
    if p_is_to_store then
        return (select count(*) from attachments a where a.created_at < p_before
            and a.state in (2, 5) and not (a.is_moved and (a.thumbnail_is_moved or a.thumbnail_digest is null)));
    end if;
    return (select count(*) from attachments a where a.created_at < p_before
        and a.state in (2, 5) and (a.is_moved or a.thumbnail_is_moved));
end $$;

-- Ends a move: the row names the new place, and the bytes in the old place are deleted; from the object store a minute
-- later, so that downloads under way end.
-- Returns: false if the attachment was deleted or changed meanwhile, or the lease has ended; what was written is
-- deleted then.
-- Locks: the attachment, the keys
create or replace function attachment_move_end(p_id uuid, p_claim bigint, p_variants smallint[], p_is_to_store boolean)
returns boolean
language plpgsql volatile as $$
declare
    v_keys text[] := array(select k.key from attachment_keys(p_id) k where k.variant = any (p_variants) order by k.key);
    v_is_claimed boolean := true;
    v_free int;
begin
    perform from attachments a where a.id = p_id and a.claim = p_claim and a.state in (2, 5) for no key update;
    v_is_claimed := found;
    if p_is_to_store then
        select count(*) into v_free
        from (select g.attempts from attachment_garbage g where g.key = any (v_keys) order by g.key for update) g
        where g.attempts = 0;
        if not v_is_claimed or v_free < cardinality(v_keys) then
            update attachment_garbage g set next_at = least(g.next_at, stamp())
            where g.key = any (v_keys) and g.attempts = 0;
            return false;
        end if;
        delete from attachment_garbage g where g.key = any (v_keys);
        delete from attachment_chunks c where c.attachment_id = p_id and c.variant = any (p_variants);
    elsif not v_is_claimed then
        return false;
    else
        insert into attachment_garbage (key, next_at)
        select k.key, stamp() + interval '1 minute' from unnest(v_keys) k (key);
    end if;
    update attachments a set lease_until = '-infinity',
        is_moved = case when 0 = any (p_variants) then p_is_to_store else a.is_moved end,
        thumbnail_is_moved = case when 1 = any (p_variants) then p_is_to_store else a.thumbnail_is_moved end
    where a.id = p_id;
    return true;
end $$;

-- Claims keys to delete, those that are due longest first. A key that is not forgotten is due again later: after the
-- lease at first, then after twice as long each time, at most 5 minutes.
-- Locks: the keys (skips locked ones)
-- Costs: an index probe when none is due
create or replace function attachment_garbage_claim(p_limit int, p_lease_s int) returns table (key text)
language plpgsql volatile
set enable_sort = off
as $$
begin
    return query
    update attachment_garbage g set attempts = g.attempts + 1,
        next_at = stamp() + least(make_interval(secs => p_lease_s * 2.0 ^ least(g.attempts, 20)), interval '5 minutes')
    where g.key = any (array(select x.key from attachment_garbage x where x.next_at <= stamp()
        order by x.next_at limit p_limit for update skip locked))
    returning g.key;
end $$;

-- Forgets keys that are gone from the object store.
create or replace function attachment_garbage_forget(p_keys text[]) returns void
language plpgsql volatile as $$
begin
    delete from attachment_garbage g where g.key = any (p_keys) and g.attempts > 0;
end $$;

-- Returns: the numbers of ready and held attachments with bytes in PostgreSQL, of those with bytes in the object store, and of
-- keys to delete. Those of keys that are being written count, too.
-- Costs: an index entry for each
create or replace function attachment_places() returns table (here bigint, moved bigint, garbage bigint)
language plpgsql stable as $$
begin
    return query select
        (select count(*) from attachments a
            where a.state in (2, 5) and not (a.is_moved and (a.thumbnail_is_moved or a.thumbnail_digest is null))),
        (select count(*) from attachments a where a.state in (2, 5) and (a.is_moved or a.thumbnail_is_moved)),
        (select count(*) from attachment_garbage g);
end $$;
