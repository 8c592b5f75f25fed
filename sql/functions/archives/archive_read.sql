-- Reading an archive: one transaction, one snapshot, one part after the other.

-- Begins the snapshot of an archive, and checks its filters.
-- Returns: the time of the snapshot.
-- Fails: PY404 user_not_found, thread_not_found.
create or replace function archive_begin(p_user uuid, p_thread uuid) returns text
language plpgsql stable as $$
begin
    perform scope_check(p_user, p_thread);
    return rfc3339(now());
end $$;

-- Records an export in the audit log.
create or replace function archive_record(
    p_actor text, p_request text, p_admin_key uuid, p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz) returns void
language sql volatile as $$
    select audit_note(p_actor, p_request, p_admin_key, 'export', p_user, p_thread, null,
        case when p_since is not null or p_until is not null
            then concat_ws(' ', 'since ' || rfc3339(p_since), 'until ' || rfc3339(p_until)) end)
$$;

-- Opens a part as the cursor `archive`, in place of the previous part's. Equal databases have equal lines in the same
-- order: the one of the tables' keys. A row of the part `attachments` has more columns, by which the bytes are read.
--   p_part   users | blocks | attachments | threads | members | messages | versions | reactions | receipts | hidden
-- The filters are those of archive_scope.sql. The caller is in a transaction with one snapshot.
-- Costs: a walk through the part's tables by their keys, an index probe a thread. Nothing is sorted but the ids of threads,
-- and of the people and files of filtered archives: the first row comes soon, and rows are not held in memory
create or replace function archive_open(
    p_part text, p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz) returns void
language plpgsql volatile
-- A join is always a loop over threads in their order, with the rows of each in theirs.
set enable_material = off set plan_cache_mode = force_custom_plan
as $$
declare
    v_cursor refcursor := 'archive';
    v_is_whole boolean := p_user is null and p_thread is null and p_since is null and p_until is null;
begin
    if exists (select from pg_cursors c where c.name = 'archive') then
        close v_cursor;
    end if;
    case p_part
    when 'users' then
        open v_cursor no scroll for
            select archive_user(u) from archive_accounts(p_user, p_thread, p_since, p_until) n
            cross join lateral (select x as u from users x where x.id = n.id) y (u);
    when 'blocks' then
        open v_cursor no scroll for
            select archive_line('block', json_build_object('user_id', b.user_id, 'blocked_id', b.blocked_id,
                'created_at', rfc3339(b.created_at)))
            from blocks b where p_thread is null and (p_user is null or b.user_id = p_user)
            order by b.user_id, b.blocked_id;
    when 'attachments' then
        if v_is_whole then
            open v_cursor no scroll for
                select archive_attachment(a), a.id, a.size, a.is_moved,
                    case when a.thumbnail_digest is not null then a.thumbnail_size end, a.thumbnail_is_moved
                from attachments a
                where a.state = 2 and (select u.kind from attachment_uses u
                    where u.attachment_id = a.id and u.kind in ('message', 'thread', 'profile') limit 1) is not null
                order by a.id;
        else
            open v_cursor no scroll for
                select archive_attachment(a), a.id, a.size, a.is_moved,
                    case when a.thumbnail_digest is not null then a.thumbnail_size end, a.thumbnail_is_moved
                from archive_files(p_user, p_thread, p_since, p_until) f
                cross join lateral (select * from attachments x where x.id = f.id and x.state = 2) a;
        end if;
    when 'threads' then
        open v_cursor no scroll for
            select archive_thread(y.t) from archive_threads(p_user, p_thread, null, null) s
            cross join lateral (select x from threads x where x.id = s.id) y (t);
    when 'members' then
        open v_cursor no scroll for
            select archive_member(y.m) from archive_threads(p_user, p_thread, null, null) s
            cross join lateral (select x from members x where x.thread_id = s.id order by x.user_id) y (m);
    when 'messages' then
        open v_cursor no scroll for
            select archive_message(y.m) from archive_threads(p_user, p_thread, p_since, p_until) s
            cross join lateral (select x from messages x
                where x.thread_id = s.id and x.seq between s.first_seq and s.last_seq
                    and (p_user is null or x.sender_id = p_user) order by x.seq) y (m);
    when 'versions' then
        open v_cursor no scroll for
            select archive_version(y.e, y.id) from archive_threads(p_user, p_thread, p_since, p_until) s
            cross join lateral (select e, m.id
                from message_edits e
                cross join lateral (select x.id, x.sender_id from messages x
                    where x.thread_id = s.id and x.seq = e.seq order by x.seq limit 1) m
                where e.thread_id = s.id and e.seq between s.first_seq and s.last_seq
                    and (p_user is null or m.sender_id = p_user)
                order by e.seq, e.version) y (e, id);
    when 'reactions' then
        open v_cursor no scroll for
            select archive_line('reaction', json_build_object('thread_id', s.id, 'message_id', r.id,
                'user_id', r.user_id, 'emoji', r.emoji, 'created_at', rfc3339(r.created_at)))
            from archive_threads(p_user, p_thread, p_since, p_until) s
            cross join lateral (select x.*, m.id from message_reactions x
                cross join lateral (select y.id, y.sender_id from messages y
                    where y.thread_id = s.id and y.seq = x.seq order by y.seq limit 1) m
                where x.thread_id = s.id and x.seq between s.first_seq and s.last_seq
                    and (p_user is null or m.sender_id = p_user)
                order by x.seq, x.user_id, x.emoji) r;
    when 'receipts' then
        open v_cursor no scroll for
            select archive_line('receipt', json_build_object('thread_id', s.id, 'user_id', k.user_id,
                'kind', k.kind, 'seq', k.seq, 'at', rfc3339(k.at)))
            from archive_threads(p_user, p_thread, p_since, p_until) s
            -- Marks of somebody who is not even a former member are those of an erased account.
            cross join lateral (select m.user_id from members m where m.thread_id = s.id
                and (p_user is null or m.user_id = p_user) order by m.user_id) m
            cross join lateral (select x.user_id, x.kind, x.seq, x.at from receipt_marks x
                where x.thread_id = s.id and x.user_id = m.user_id and x.seq between s.first_seq and s.last_seq
                order by x.kind, x.seq) k;
    when 'hidden' then
        open v_cursor no scroll for
            select archive_line('hidden_message', json_build_object('thread_id', s.id, 'user_id', h.user_id,
                'message_id', h.id))
            from archive_threads(p_user, p_thread, p_since, p_until) s
            cross join lateral (select m.user_id from members m where m.thread_id = s.id and m.hides
                and (p_user is null or m.user_id = p_user) order by m.user_id) m
            cross join lateral (select x.user_id, x.seq, y.id from message_hides x
                cross join lateral (select z.id, z.sender_id from messages z
                    where z.thread_id = s.id and z.seq = x.seq order by z.seq limit 1) y
                where x.thread_id = s.id and x.user_id = m.user_id and x.seq between s.first_seq and s.last_seq
                    and (p_user is null or y.sender_id = p_user)
                order by x.seq) h;
    end case;
end $$;

-- Returns: the next lines of the part that was opened last, none at its end: at most `p_limit`, and no more once they
-- have a mebibyte.
create or replace function archive_next(p_limit int) returns setof text
language plpgsql volatile as $$
declare
    v_cursor refcursor := 'archive';
    v_line text;
    v_bytes int := 0;
begin
    for v_count in 1 .. p_limit loop
        fetch v_cursor into v_line;
        exit when not found;
        return next v_line;
        v_bytes := v_bytes + octet_length(v_line);
        exit when v_bytes >= 1048576;
    end loop;
end $$;

-- Returns: the same for the part `attachments`, with what reading the bytes needs. `thumbnail_size` is null without a
-- thumbnail.
create or replace function archive_next_files(p_limit int)
returns table (line text, id uuid, size bigint, is_moved boolean, thumbnail_size int, thumbnail_is_moved boolean)
language plpgsql volatile as $$
declare
    v_cursor refcursor := 'archive';
begin
    for v_count in 1 .. p_limit loop
        fetch v_cursor into line, id, size, is_moved, thumbnail_size, thumbnail_is_moved;
        exit when not found;
        return next;
    end loop;
end $$;
