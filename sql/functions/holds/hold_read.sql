-- Reading held contents. Each reading is in the audit log.

-- Returns: a hold whose contents may be read.
-- Fails: PY404 hold_not_found; PY409 hold_released.
create or replace function hold_in_force(p_hold uuid) returns holds
language plpgsql stable as $$
declare
    v_hold holds := hold_find(p_hold);
begin
    if v_hold.released_at is not null then
        perform refuse(409, 'hold_released', 'This hold was released. Its contents cannot be read any more.');
    end if;
    return v_hold;
end $$;

-- Returns: the attachments of a content, as JSON text. The id of each stands in the payload.
create or replace function held_attachments(c held_contents) returns text
language plpgsql stable as $$
begin
    return (select coalesce('[' || string_agg(json_build_object('id', a.id, 'name', a.name,
            'content_type', a.media_type, 'size', a.size, 'sha256', encode(a.digest, 'hex'))::text, ','
            order by a.id) || ']', '[]')
        from attachment_uses u
        cross join lateral (select x.* from attachments x where x.id = u.attachment_id limit 1) a
        where u.holder_id = c.thread_id and u.seq = c.seq and u.kind in ('message', 'held')
            and strpos(c.payload::text, u.attachment_id::text) > 0);
end $$;

-- Returns: a content as administrators see it. The sender has the names from before an erasure.
create or replace function held_content_json(c held_contents) returns text
language plpgsql stable as $$
begin
    return '{"message_id":"' || c.message_id || '","thread_id":"' || c.thread_id || '","seq":' || c.seq
        || ',"version":' || c.version || ',"type":' || to_json(c.type)
        || ',"sender":' || coalesce(
            (select json_build_object('id', h.user_id, 'name', h.name, 'username', h.username)::text
                from held_users h where h.user_id = c.sender_id),
            (select json_build_object('id', u.id, 'name', u.name, 'username', u.username)::text
                from users u where u.id = c.sender_id), 'null')
        || ',"sent_at":"' || rfc3339(c.sent_at) || '","removal":"' || c.removal
        || '","removed_at":"' || rfc3339(c.removed_at) || '","payload":' || c.payload
        || ',"attachments":' || held_attachments(c) || '}';
end $$;

-- Returns: what a hold keeps after the content `p_after`, in the order of removal: at most `p_limit`, and about 1 MiB,
-- but at least one. `more` says whether others follow the last one.
-- Locks: the holds, so that no content with a lower number appears later
create or replace function hold_page(h holds, p_after bigint, p_limit int)
returns table (item text, n bigint, more boolean)
language plpgsql volatile
set enable_sort = off
as $$
#variable_conflict use_column
declare
    v_contents held_contents[];
begin
    perform hold_exclude();
    if h.thread_id is not null then
        v_contents := array(select c from held_contents c
            where c.thread_id = h.thread_id and c.n > p_after order by c.n limit p_limit + 1);
    else
        v_contents := array(select c from held_contents c
            where c.sender_id = h.user_id and c.n > p_after order by c.n limit p_limit + 1);
    end if;
    return query
    select f.item, f.n, f.place < cardinality(v_contents)
    from (
        select s.*, sum(octet_length(s.item)) over (order by s.place) as bytes
        from (select held_content_json(c) as item, (c).n, i.place
            from generate_subscripts(v_contents, 1) i (place) cross join lateral (select v_contents[i.place]) x (c)
            where i.place <= p_limit) s) f
    where f.place = 1 or f.bytes <= 1048576 order by f.place;
end $$;

-- Returns: as hold_page, and records the reading: how many contents, of which hold, from which to which.
-- Fails: as hold_in_force.
create or replace function hold_contents(
    p_actor text, p_request text, p_admin_key uuid, p_hold uuid, p_after bigint, p_limit int)
returns table (item text, n bigint, more boolean)
language plpgsql volatile as $$
#variable_conflict use_column
declare
    v_hold holds := hold_in_force(p_hold);
    v_count int := 0;
    v_first bigint;
    v_row record;
begin
    for v_row in select * from hold_page(v_hold, p_after, p_limit) loop
        v_count := v_count + 1;
        v_first := coalesce(v_first, v_row.n);
        item := v_row.item;
        n := v_row.n;
        more := v_row.more;
        return next;
    end loop;
    perform audit_note(p_actor, p_request, p_admin_key, 'hold.read', v_hold.user_id, v_hold.thread_id, null,
        p_hold || ': ' || v_count || ' contents' || coalesce(', ' || v_first || ' to ' || n, ''));
end $$;

-- Begins an export, and records that.
-- Returns: the hold as JSON text.
-- Fails: as hold_in_force.
create or replace function hold_export_begin(p_actor text, p_request text, p_admin_key uuid, p_hold uuid) returns text
language plpgsql volatile as $$
declare
    v_hold holds := hold_in_force(p_hold);
begin
    perform audit_note(p_actor, p_request, p_admin_key, 'hold.export', v_hold.user_id, v_hold.thread_id, null, p_hold || ': begun');
    return hold_json(v_hold);
end $$;

-- Returns: as hold_page, for an export that was begun.
-- Fails: as hold_in_force (the hold was released meanwhile).
create or replace function hold_export_page(p_hold uuid, p_after bigint, p_limit int)
returns table (item text, n bigint, more boolean)
language plpgsql volatile as $$
begin
    return query select * from hold_page(hold_in_force(p_hold), p_after, p_limit);
end $$;

-- Records that an export was made, before its last line is sent.
-- Returns: the time, for that line.
-- Fails: as hold_in_force.
create or replace function hold_export_end(
    p_actor text, p_request text, p_admin_key uuid, p_hold uuid, p_count bigint, p_digest text) returns text
language plpgsql volatile as $$
declare
    v_hold holds := hold_in_force(p_hold);
begin
    perform audit_note(p_actor, p_request, p_admin_key, 'hold.export', v_hold.user_id, v_hold.thread_id, null,
        p_hold || ': ' || p_count || ' contents, sha256 ' || p_digest);
    return rfc3339(stamp());
end $$;

-- Returns: the seed of the key that signs exports. If there is none, stores `p_seed`. So all nodes have the same key.
create or replace function export_key_keep(p_seed bytea) returns bytea
language plpgsql volatile as $$
begin
    insert into export_keys (seed, created_at) values (p_seed, stamp()) on conflict do nothing;
    return (select k.seed from export_keys k);
end $$;
