-- Reading an archive: one transaction, one snapshot, one part after the other.

-- Begins the snapshot of an archive, and checks its filters.
-- Returns: the time of the snapshot.
-- Fails: PY404 user_not_found, thread_not_found.
create or replace function archive_begin(p_user uuid, p_thread uuid) returns text
language plpgsql stable
set enable_seqscan = off
as $$
begin
    if p_user is not null and not exists (select from users u where u.id = p_user) then
        perform user_refuse();
    elsif p_thread is not null and not exists (select from threads t where t.id = p_thread) then
        perform thread_refuse();
    end if;
    return rfc3339(now());
end $$;

-- Records an export in the audit log.
create or replace function archive_record(
    p_actor text, p_request text, p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz) returns void
language sql volatile as $$
    select audit_note(p_actor, p_request, 'export', p_user, p_thread, null,
        case when p_since is not null or p_until is not null
            then concat_ws(' ', 'since ' || rfc3339(p_since), 'until ' || rfc3339(p_until)) end)
$$;

-- Opens a part as the cursor `archive`, in place of the previous part's. Its first column is a line. The part
-- `attachments` has more columns, by which the bytes are read: id, size, is_moved, thumbnail_size (null without a
-- thumbnail), thumbnail_is_moved. Equal databases have equal lines in the same order.
--   p_part   users | blocks | attachments | threads | members | messages | versions | reactions | receipts | hidden
-- The filters are those of archive_scope.sql. The caller is in a transaction with one snapshot.
-- Costs: a walk through the part's tables by their keys; nothing is held in memory
create or replace function archive_open(
    p_part text, p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz) returns void
language plpgsql volatile
set enable_seqscan = on set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
    v_cursor refcursor := 'archive';
begin
    if exists (select from pg_cursors c where c.name = 'archive') then
        close v_cursor;
    end if;
    case p_part
    when 'users' then
        open v_cursor no scroll for
            select archive_user(u) from users u
            where p_user is null and p_thread is null
                or u.id in (select n.id from archive_users(p_user, p_thread, p_since, p_until) n)
            order by u.id;
    when 'blocks' then
        open v_cursor no scroll for
            select archive_line('block', json_build_object('user_id', b.user_id, 'blocked_id', b.blocked_id,
                'created_at', rfc3339(b.created_at)))
            from blocks b where p_thread is null and (p_user is null or b.user_id = p_user)
            order by b.user_id, b.blocked_id;
    when 'attachments' then
        open v_cursor no scroll for
            select archive_attachment(a), a.id, a.size, a.is_moved,
                case when a.thumbnail_digest is not null then a.thumbnail_size end, a.thumbnail_is_moved
            from archive_attachments(p_user, p_thread, p_since, p_until) a order by a.id;
    when 'threads' then
        open v_cursor no scroll for
            select archive_thread(t) from archive_threads(p_user, p_thread) t order by t.id;
    when 'members' then
        open v_cursor no scroll for
            select archive_member(m) from archive_threads(p_user, p_thread) t join members m on m.thread_id = t.id
            order by m.thread_id, m.user_id;
    when 'messages' then
        open v_cursor no scroll for
            select archive_message(m, archive_reply_to(m, p_user, p_thread, p_since, p_until))
            from archive_messages(p_user, p_thread, p_since, p_until) m order by m.thread_id, m.seq;
    when 'versions' then
        open v_cursor no scroll for
            select archive_version(e, m.id) from archive_messages(p_user, p_thread, p_since, p_until) m
            join message_edits e on e.thread_id = m.thread_id and e.seq = m.seq
            where m.edited_at is not null order by e.thread_id, e.seq, e.version;
    when 'reactions' then
        open v_cursor no scroll for
            select archive_line('reaction', json_build_object('thread_id', m.thread_id, 'message_id', m.id,
                'user_id', r.user_id, 'emoji', r.emoji, 'created_at', rfc3339(r.created_at)))
            from archive_messages(p_user, p_thread, p_since, p_until) m
            join message_reactions r on r.thread_id = m.thread_id and r.seq = m.seq
            where m.reacted order by r.thread_id, r.seq, r.user_id, r.emoji;
    when 'receipts' then
        open v_cursor no scroll for
            select archive_line('receipt', json_build_object('thread_id', k.thread_id, 'user_id', k.user_id,
                'kind', k.kind, 'seq', k.seq, 'at', rfc3339(k.at)))
            from archive_threads(p_user, p_thread) t join receipt_marks k on k.thread_id = t.id
            where (p_user is null or k.user_id = p_user)
                and (p_since is null and p_until is null or exists (
                    select from archive_messages(null, k.thread_id, p_since, p_until) m where m.seq = k.seq))
            order by k.thread_id, k.user_id, k.kind, k.seq;
    when 'hidden' then
        open v_cursor no scroll for
            select archive_line('hidden_message', json_build_object('thread_id', h.thread_id, 'user_id', h.user_id,
                'message_id', m.id))
            from archive_messages(p_user, p_thread, p_since, p_until) m
            join message_hides h on h.thread_id = m.thread_id and h.seq = m.seq
            where p_user is null or h.user_id = p_user
            order by h.thread_id, h.user_id, h.seq;
    end case;
end $$;
