-- Reading the archive, from the first message on that the caller has not hidden. All of it fails with PY404
-- thread_not_found and PY403 not_joined for those without a part in the thread, and changes nothing.

-- A message as JSON text, with its sender's name of today. For the one who asks for it (`p_user`) it says which reactions
-- are theirs; what everyone gets says nothing of that.
drop function if exists message_view(messages);
create or replace function message_view(m messages, p_user uuid default null) returns text
language sql stable as $$
    select message_json(m.thread_id, m.seq, m.id, m.sender_id, (select u.name from users u where u.id = m.sender_id),
        (select u.profile_image from users u where u.id = m.sender_id), m.type, m.payload, m.reply_to, m.mentions,
        m.created_at, m.edited_at, m.deleted_at, m.expires_at,
        case when m.reacted then reactions_json(m.thread_id, m.seq, p_user) end)
$$;

-- The message of that id, all null without one.
-- Ordered by id, and `between`, so that by whatever statistics no other index seems to do as well: one that has only the
-- thread would be read for all of it. So are seqs; a change names both, so that any index will do. And no sequential scan,
-- here and in all that reads or changes a message: it seems to cost nothing while the table is empty, and the plan made
-- then is kept.
create or replace function message_find(p_thread uuid, p_message uuid) returns messages
language plpgsql stable
set enable_seqscan = off set enable_sort = off
as $$
declare
    v_message messages;
begin
    select * into v_message from messages m
    where m.thread_id = p_thread and m.id between p_message and p_message order by m.id limit 1;
    return v_message;
end $$;

-- The same for a member, who doesn't see what they have hidden or deleted for themselves.
-- Fails: PY404 message_not_found.
create or replace function message_of(m members, p_message uuid) returns messages
language plpgsql stable as $$
declare
    v_message messages := message_find(m.thread_id, p_message);
begin
    if v_message.seq is null or v_message.seq < m.hidden_before_seq
        or (m.hides and message_is_hidden(m.thread_id, m.user_id, v_message.seq)) then
        perform message_refuse();
    end if;
    return v_message;
end $$;

-- Fails: PY404 message_not_found.
create or replace function message_get(p_user uuid, p_thread uuid, p_message uuid) returns text
language plpgsql stable as $$
declare
    v_member members := member_joined(p_thread, p_user);
begin
    return message_view(message_of(v_member, p_message), p_user);
end $$;

create or replace function message_refuse() returns void
language plpgsql volatile as $$
begin
    raise exception using errcode = 'PY404', message = 'message_not_found', detail = 'The thread has no such message.';
end $$;

-- The first seq of the thread at or after an instant, head + 1 when all are older. Times never go backwards along the
-- seqs, so this halves the range some twenty times, an index probe each, and needs no index of its own.
create or replace function message_seq_at(p_thread uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_low bigint := 1;
    v_high bigint := thread_head(p_thread) + 1;
    v_middle bigint;
begin
    while v_low < v_high loop
        v_middle := (v_low + v_high) / 2;
        if (select m.created_at from messages m
            where m.thread_id = p_thread and m.seq between v_middle and v_middle order by m.seq limit 1) < p_at then
            v_low := v_middle + 1;
        else
            v_high := v_middle;
        end if;
    end loop;
    return v_low;
end $$;

-- One end of a page as a seq: given as such, as a message's id, or as a time; null for none.
-- Fails: PY422 (the field: no such message in the thread).
create or replace function message_bound(
    p_thread uuid, p_field text, p_seq bigint, p_id uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_seq bigint;
begin
    if p_id is null then
        -- A time picks the starting seq: `before` it, or from it on (after the seq that is before it).
        return coalesce(p_seq, message_seq_at(p_thread, p_at) - case p_field when 'after' then 1 else 0 end);
    end if;
    v_seq := (message_find(p_thread, p_id)).seq;
    if v_seq is null then
        raise exception using errcode = 'PY422', message = 'invalid', hint = p_field,
            detail = 'The thread has no such message.';
    end if;
    return v_seq;
end $$;

-- A page of the archive as JSON text {messages, head, end}, ascending by seq: after `after` if given, else the last
-- ones before `before`, else the newest. `end` says that there is nothing more that way: a page also ends before it has
-- more than 1 MiB of messages (but for its first), for who reads slowly holds a node's memory. What the caller has hidden
-- or deleted for themselves is left out.
create or replace function message_page(
    p_user uuid, p_thread uuid, p_before_seq bigint, p_before_id uuid, p_before_at timestamptz,
    p_after_seq bigint, p_after_id uuid, p_after_at timestamptz, p_limit int
) returns text
language plpgsql stable
set enable_seqscan = off
as $$
declare
    v_member members := member_joined(p_thread, p_user);
    v_head bigint := thread_head(p_thread);
    v_before bigint := case when p_before_seq is null and p_before_id is null and p_before_at is null then null
        else message_bound(p_thread, 'before', p_before_seq, p_before_id, p_before_at) end;
    v_after bigint := case when p_after_seq is null and p_after_id is null and p_after_at is null then null
        else message_bound(p_thread, 'after', p_after_seq, p_after_id, p_after_at) end;
    v_from bigint := greatest(v_member.hidden_before_seq, 1);
    v_to bigint;
    v_last bigint;
    v_is_end boolean;
begin
    if v_after is not null then
        v_from := greatest(least(v_after, v_head) + 1, v_from);
    end if;
    v_to := greatest(least(v_before - 1, v_head), 0);
    v_last := message_page_end(v_member, v_from, v_to, p_limit, v_after is null);
    if v_after is null then
        v_is_end := v_last is null or v_last <= v_from;
        v_from := greatest(v_from, v_last);
    else
        v_is_end := v_last is null or v_last >= v_to;
        v_to := least(v_to, v_last);
    end if;
    return (select '{"messages":[' || coalesce(string_agg(f.body, ',' order by f.seq) filter (where f.fits), '') || ']'
        || ',"head":' || v_head || ',"end":' || (v_is_end and coalesce(bool_and(f.fits), true))::text || '}'
        from (
            select b.seq, b.body, b.place = 1 or b.bytes <= 1048576 as fits
            from (
                select s.seq, s.body, row_number() over w as place, sum(octet_length(s.body)) over w as bytes
                from (
                    -- As message_view, which called for each would make half the cost of a page.
                    select m.seq, message_json(m.thread_id, m.seq, m.id, m.sender_id, u.name, u.profile_image, m.type,
                        m.payload, m.reply_to, m.mentions, m.created_at, m.edited_at, m.deleted_at, m.expires_at,
                        case when m.reacted then reactions_json(m.thread_id, m.seq, p_user) end) as body
                    from messages m
                    left join lateral (select s.name, s.profile_image from users s
                        where s.id = m.sender_id limit 1) u on true
                    where m.thread_id = p_thread and m.seq between v_from and v_to
                        and not (v_member.hides and message_is_hidden(p_thread, p_user, m.seq))
                    order by m.seq
                ) s
                window w as (order by case when v_after is null then -s.seq else s.seq end)
            ) b
        ) f);
end $$;

-- The seq of the last message on a page of `p_limit` from those between two seqs: upwards from the first, or downwards
-- from the last. Null if they are fewer. Seqs are dense, so it is known without a look unless the member hides some.
create or replace function message_page_end(
    m members, p_from bigint, p_to bigint, p_limit int, p_is_downward boolean
) returns bigint
language plpgsql stable as $$
begin
    if not m.hides then
        return case when p_to - p_from + 1 < p_limit then null
            when p_is_downward then p_to - p_limit + 1
            else p_from + p_limit - 1 end;
    elsif p_is_downward then
        return (select x.seq from messages x
            where x.thread_id = m.thread_id and x.seq between p_from and p_to
                and not message_is_hidden(m.thread_id, m.user_id, x.seq)
            order by x.seq desc offset p_limit - 1 limit 1);
    end if;
    return (select x.seq from messages x
        where x.thread_id = m.thread_id and x.seq between p_from and p_to
            and not message_is_hidden(m.thread_id, m.user_id, x.seq)
        order by x.seq offset p_limit - 1 limit 1);
end $$;
