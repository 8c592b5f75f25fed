-- The checks of import_check. Each returns bad lines, at least the first one of its kind, with a sentence for the
-- administrator.

-- Returns: a line that names a user who is neither in the archive nor here.
create or replace function import_bad_people(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    with named as (
        select b.user_id as id, min(b.line) as line from import_blocks b where b.import_id = p_import group by 1
        union all select b.blocked_id, min(b.line) from import_blocks b where b.import_id = p_import group by 1
        union all select t.direct_low, min(t.line) from import_threads t where t.import_id = p_import group by 1
        union all select t.direct_high, min(t.line) from import_threads t where t.import_id = p_import group by 1
        union all select m.user_id, min(m.line) from import_members m where m.import_id = p_import group by 1
        union all select m.invited_by, min(m.line) from import_members m where m.import_id = p_import group by 1
        union all select m.sender_id, min(m.line) from import_messages m where m.import_id = p_import group by 1
        union all select n.id, min(m.line) from import_messages m cross join lateral unnest(m.mentions) n (id)
            where m.import_id = p_import group by 1
        union all select r.user_id, min(r.line) from import_reactions r where r.import_id = p_import group by 1
        union all select a.owner_id, min(a.line) from import_attachments a where a.import_id = p_import group by 1
    )
    select n.line, format('There is no user %s, in the archive or here.', n.id)
    from named n
    where n.id is not null
        and not exists (select from import_users u where u.import_id = p_import and u.id = n.id)
        and not exists (select from users u where u.id = n.id)
    order by n.line limit 1;
end $$;

-- Returns: direct threads whose two people have another one in the archive, and rooms whose title another room has.
-- Direct threads are compared with those here by import_plan, because two people may have met here already.
create or replace function import_bad_threads(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    select x.line, 'The archive has another direct thread of these two users.'
    from (select t.line, row_number() over (partition by t.direct_low, t.direct_high order by t.line) as n
        from import_threads t where t.import_id = p_import and t.kind = 'direct') x where x.n > 1
    union all
    select x.line, 'The archive has another room with this title.'
    from (select t.line, row_number() over (partition by t.room_key order by t.line) as n
        from import_threads t where t.import_id = p_import and t.kind = 'room') x where x.n > 1
    union all
    select t.line, 'Another room has this title. Rename that room, or this line''s.'
    from import_threads t join threads o on o.room_key = t.room_key and o.id <> t.id
    where t.import_id = p_import and t.kind = 'room'
        and not exists (select from threads e where e.id = t.id);
end $$;

-- Returns: members of unknown threads, of direct threads of two other people, and receipts and hidden messages of
-- people who are no members.
create or replace function import_bad_members(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    select m.line, format('There is no thread %s, in the archive or here.', m.thread_id)
    from import_members m
    where m.import_id = p_import
        and not exists (select from import_threads t where t.import_id = p_import and t.id = m.thread_id)
        and not exists (select from threads t where t.id = m.thread_id)
    union all
    select m.line, 'A direct thread has the two members of its line.'
    from import_members m join import_threads t on t.import_id = p_import and t.id = m.thread_id
    where m.import_id = p_import and t.kind = 'direct' and m.user_id not in (t.direct_low, t.direct_high)
    union all
    select x.line, format('The user %s is no member of the thread %s.', x.user_id, x.thread_id)
    from (select r.line, r.thread_id, r.user_id from import_receipts r where r.import_id = p_import
        union all select h.line, h.thread_id, h.user_id from import_hides h where h.import_id = p_import) x
    where not exists (select from import_members m
            where m.import_id = p_import and m.thread_id = x.thread_id and m.user_id = x.user_id)
        and not exists (select from import_threads t
            where t.import_id = p_import and t.id = x.thread_id and x.user_id in (t.direct_low, t.direct_high))
        and not exists (select from members m where m.thread_id = x.thread_id and m.user_id = x.user_id);
end $$;

-- Returns: messages of unknown threads, and those with seqs that say no order.
create or replace function import_bad_messages(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    with per_thread as materialized (
        select m.thread_id, min(m.line) as line, count(*) as count, count(m.seq) as with_seq,
            min(m.line) filter (where m.seq is null) as first_without
        from import_messages m where m.import_id = p_import group by m.thread_id
    )
    select x.line, format('There is no thread %s, in the archive or here.', x.thread_id)
    from per_thread x
    where not exists (select from import_threads t where t.import_id = p_import and t.id = x.thread_id)
        and not exists (select from threads t where t.id = x.thread_id)
    union all
    select x.first_without, 'Other messages of this thread have a `seq`: all must have one, or none.'
    from per_thread x where x.with_seq between 1 and x.count - 1
    union all
    select x.line, format('Another message of the thread has the seq %s.', x.seq)
    from (select m.thread_id, m.seq, (array_agg(m.line order by m.line))[2] as line
        from import_messages m where m.import_id = p_import and m.seq is not null
        group by m.thread_id, m.seq having count(*) > 1) x;
end $$;

-- Returns: versions, reactions and hidden messages of unknown messages.
create or replace function import_bad_parts(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    select x.line, format('The thread %s has no message %s, in the archive or here.', x.thread_id, x.message_id)
    from (select v.line, v.thread_id, v.message_id from import_versions v where v.import_id = p_import
        union all select r.line, r.thread_id, r.message_id from import_reactions r where r.import_id = p_import
        union all select h.line, h.thread_id, h.message_id from import_hides h where h.import_id = p_import) x
    where not exists (select from import_messages m
            where m.import_id = p_import and m.thread_id = x.thread_id and m.id = x.message_id)
        and (message_find(x.thread_id, x.message_id)).seq is null;
end $$;

-- Returns: attachments whose bytes are missing or others than declared, bytes of no attachment, and messages with
-- unknown attachments. Attachments that exist here already are read only for messages of new threads.
create or replace function import_bad_files(p_import uuid) returns table (line bigint, detail text)
language plpgsql stable as $$
begin
    return query
    select c.line, format('There is no attachment %s in the archive.', c.attachment_id)
    from import_chunks c
    where c.import_id = p_import
        and not exists (select from import_attachments a where a.import_id = p_import and a.id = c.attachment_id)
    union all
    select a.line, case v.variant when 0 then 'The bytes of this attachment are missing, or not those of its sum.'
        else 'The bytes of this attachment''s thumbnail are missing, or not those of its sum.' end
    from import_attachments a
    cross join lateral (values (0::smallint, a.size, a.digest),
        (1::smallint, a.thumbnail_size::bigint, a.thumbnail_digest)) v (variant, size, digest)
    -- One file at a time: the largest is some tens of megabytes.
    left join (
        select c.attachment_id, c.variant, sha256(string_agg(c.data, '' order by c.n)) as digest,
            sum(octet_length(c.data)) as size
        from import_chunks c where c.import_id = p_import group by c.attachment_id, c.variant
    ) b on b.attachment_id = a.id and b.variant = v.variant
    where a.import_id = p_import and v.digest is not null
        and (coalesce(b.size, 0), coalesce(b.digest, sha256(''))) is distinct from (v.size, v.digest)
        and not exists (select from attachments e where e.id = a.id)
    union all
    select x.line, case when not x.is_here then format('There is no attachment %s in the archive.', x.id)
        else format('The attachment %s exists here already, and the archive does not have its bytes.', x.id) end
    from (
        select n.line, n.id, exists (select from attachments e where e.id = n.id and e.state <> 4) as is_here,
            not exists (select from threads t where t.id = n.thread_id) as is_new
        from (
            select m.line, m.thread_id, n.id from import_messages m cross join lateral unnest(m.attachments) n (id)
            where m.import_id = p_import and m.attachments is not null
            union all
            select e.line, e.thread_id, n.id from import_versions e cross join lateral unnest(e.attachments) n (id)
            where e.import_id = p_import and e.attachments is not null) n) x
    -- To a thread that exists nothing is added.
    where case when x.is_here then x.is_new and not import_has_bytes(p_import, x.id)
        else not exists (select from import_attachments a where a.import_id = p_import and a.id = x.id) end;
end $$;
