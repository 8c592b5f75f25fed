-- Reading the archive, from the first message that the caller hasn't hidden on. All of it fails with PY404 thread_not_found and PY403 not_joined for those without a part in the
-- thread, and changes nothing.

-- A message as JSON text, with its sender's name of today.
create or replace function message_view(m messages) returns text
language sql stable as $$
    select message_json(m.thread_id, m.seq, m.id, m.sender_id, (select u.name from users u where u.id = m.sender_id),
        (select u.profile_image from users u where u.id = m.sender_id), m.type, m.payload, m.reply_to, m.mentions,
        m.created_at, m.edited_at, m.deleted_at, m.expires_at)
$$;

-- Fails: PY404 message_not_found.
create or replace function message_get(p_user uuid, p_thread uuid, p_message uuid) returns text
language plpgsql stable as $$
declare
    v_member members := member_joined(p_thread, p_user);
    v_message text;
begin
    select message_view(m) into v_message from messages m
    where m.thread_id = p_thread and m.id = p_message and m.seq >= v_member.hidden_before_seq;
    if not found then
        perform message_refuse();
    end if;
    return v_message;
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
        if (select m.created_at from messages m where m.thread_id = p_thread and m.seq = v_middle) < p_at then
            v_low := v_middle + 1;
        else
            v_high := v_middle;
        end if;
    end loop;
    return v_low;
end $$;

-- One end of a page as a seq: given as such, as a message's id, or as a time; null for none.
-- Fails: PY422 (the field: no such message in the thread).
create or replace function message_bound(p_thread uuid, p_field text, p_seq bigint, p_id uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_seq bigint;
begin
    if p_id is null then
        -- A time picks the starting seq: `before` it, or from it on (after the seq that is before it).
        return coalesce(p_seq, message_seq_at(p_thread, p_at) - case p_field when 'after' then 1 else 0 end);
    end if;
    select m.seq into v_seq from messages m where m.thread_id = p_thread and m.id = p_id;
    if not found then
        raise exception using errcode = 'PY422', message = 'invalid', hint = p_field,
            detail = 'The thread has no such message.';
    end if;
    return v_seq;
end $$;

-- A page of the archive as JSON text {messages, head, end}, ascending by seq: after `after` if given, else the last
-- ones before `before`, else the newest. `end` says that there is nothing more that way: a page also ends before it has
-- more than 1 MiB of messages (but for its first), for who reads slowly holds a node's memory.
create or replace function message_page(
    p_user uuid, p_thread uuid, p_before_seq bigint, p_before_id uuid, p_before_at timestamptz,
    p_after_seq bigint, p_after_id uuid, p_after_at timestamptz, p_limit int
) returns text
language plpgsql stable as $$
declare
    v_member members := member_joined(p_thread, p_user);
    v_head bigint := thread_head(p_thread);
    v_before bigint := case when p_before_seq is null and p_before_id is null and p_before_at is null then null
        else message_bound(p_thread, 'before', p_before_seq, p_before_id, p_before_at) end;
    v_after bigint := case when p_after_seq is null and p_after_id is null and p_after_at is null then null
        else message_bound(p_thread, 'after', p_after_seq, p_after_id, p_after_at) end;
    -- What is before this the caller has hidden.
    v_first bigint := greatest(v_member.hidden_before_seq, 1);
    v_from bigint;
    v_to bigint;
begin
    -- Seqs are dense, so a page is a range of them.
    v_before := least(v_before, v_head + 1);
    if v_after is not null then
        v_after := greatest(least(v_after, v_head), v_first - 1);
        v_from := v_after + 1;
        v_to := least(v_after + p_limit, coalesce(v_before - 1, v_head));
    else
        v_to := greatest(coalesce(v_before - 1, v_head), 0);
        v_from := greatest(v_to - p_limit + 1, v_first);
    end if;
    return (select '{"messages":[' || coalesce(string_agg(f.body, ',' order by f.seq), '') || ']'
        || ',"head":' || v_head || ',"end":' || case when v_after is not null
            then (coalesce(max(f.seq), v_to) >= coalesce(v_before - 1, v_head))::text
            else (coalesce(min(f.seq), v_from) <= v_first)::text end || '}'
        from (
            select s.seq, s.body, row_number() over w as place, sum(octet_length(s.body)) over w as bytes
            from (
                select m.seq, message_view(m) as body
                from messages m where m.thread_id = p_thread and m.seq between v_from and v_to
            ) s
            window w as (order by case when v_after is null then -s.seq else s.seq end)
        ) f
        where f.place = 1 or f.bytes <= 1048576);
end $$;
