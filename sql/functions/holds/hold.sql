-- Legal holds: the calls of administrators. A hold covers the messages that a user sent, or all messages of a thread.
-- hold_keep.sql keeps their content, hold_read.sql reads it, hold_sweep.sql erases it after the release.

-- Returns: a hold as administrators see it.
create or replace function hold_json(h holds) returns text
language sql stable as $$
    select json_strip_nulls(json_build_object('id', h.id, 'name', h.name, 'reason', h.reason, 'user_id', h.user_id,
        'thread_id', h.thread_id, 'created_at', rfc3339(h.created_at), 'released_at', rfc3339(h.released_at),
        'erased_at', rfc3339(h.erased_at)))::text
$$;

-- Returns: the hold.
-- Fails: PY404 hold_not_found.
create or replace function hold_find(p_hold uuid) returns holds
language plpgsql stable as $$
declare
    v_hold holds;
begin
    select * into v_hold from holds h where h.id = p_hold;
    if not found then
        perform refuse_unknown('hold');
    end if;
    return v_hold;
end $$;

-- Returns: the hold as JSON text.
-- Fails: PY404 hold_not_found.
create or replace function hold_get(p_hold uuid) returns text
language plpgsql stable as $$
begin
    return hold_json(hold_find(p_hold));
end $$;

-- Returns: a page of all holds, the newest first.
create or replace function hold_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select hold_json(h), 0::bigint, h.id
    from holds h where p_after_id is null or h.id < p_after_id order by h.id desc limit p_limit
$$;

-- Begins a hold of a user's messages or of a thread. All content that is removed after this call is kept.
-- Returns: the hold as JSON text.
-- Fails: PY404 user_not_found, thread_not_found. An erased account may be held: its messages may still exist.
-- Locks: the holds, so that removals under way end first
create or replace function hold_create(
    p_actor text, p_request text, p_admin_key uuid, p_hold uuid, p_name text, p_reason text, p_user uuid, p_thread uuid) returns text
language plpgsql volatile as $$
declare
    v_hold holds;
begin
    perform scope_check(p_user, p_thread);
    perform hold_exclude();
    insert into holds (id, name, reason, user_id, thread_id, created_at)
    values (p_hold, p_name, p_reason, p_user, p_thread, stamp()) returning * into v_hold;
    perform audit_note(p_actor, p_request, p_admin_key, 'hold.create', p_user, p_thread, p_subject => p_hold::text);
    return hold_json(v_hold);
end $$;

-- Releases a hold. Its contents cannot be read any more. Those that no other hold covers are erased next (hold_sweep).
-- Releasing it again changes nothing.
-- Fails: PY404 hold_not_found.
-- Locks: the holds, the hold's row
create or replace function hold_release(p_actor text, p_request text, p_admin_key uuid, p_hold uuid) returns void
language plpgsql volatile as $$
declare
    v_hold holds;
begin
    perform hold_exclude();
    v_hold := hold_find(p_hold);
    update holds h set released_at = stamp() where h.id = p_hold and h.released_at is null;
    if found then
        perform audit_note(p_actor, p_request, p_admin_key, 'hold.release', v_hold.user_id, v_hold.thread_id, p_subject => p_hold::text);
    end if;
end $$;

-- Returns: how many holds are in force, how many contents and files they keep, and the bytes of both: of the table as
-- PostgreSQL stores it, and of the files without thumbnails. Rows are counted up to 100,000, above that estimated.
-- Costs: an index entry for each file
create or replace function hold_counts()
returns table (in_force bigint, contents bigint, files bigint, bytes bigint)
language plpgsql stable as $$
begin
    return query
    select (select count(*) from holds h where h.released_at is null), admin_row_count('held_contents'), f.count,
        pg_table_size('held_contents') + f.bytes
    from (select count(*), coalesce(sum(a.size), 0)::bigint as bytes from attachments a where a.state = 5) f;
end $$;
