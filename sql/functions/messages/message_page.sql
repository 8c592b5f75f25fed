-- Pages of a thread's history.

-- Returns: the first seq of the thread at or after an instant, head + 1 when all messages are older.
-- Costs: some twenty index probes. Times never decrease along the seqs, so a binary search needs no index of its own
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

-- Returns: one end of a page as a seq. It is given as a seq, a message's id or a time; null for none.
-- Fails: PY422 (the field: no such message in the thread).
create or replace function message_bound(
    p_thread uuid, p_field text, p_seq bigint, p_id uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_seq bigint;
begin
    if p_id is null then
        -- A time picks the first seq: `before` it, or from it on (after the seq before it).
        return coalesce(p_seq, message_seq_at(p_thread, p_at) - case p_field when 'after' then 1 else 0 end);
    end if;
    v_seq := (message_find(p_thread, p_id)).seq;
    if v_seq is null then
        perform refuse(422, 'invalid', 'The thread has no such message.', p_field);
    end if;
    return v_seq;
end $$;

-- Returns: a page of the history as JSON text {messages, head, end}, ascending by seq: after `after` if given, else
-- the last ones before `before`, else the newest. `end` says that there is nothing more in that direction. A page ends
-- before 1 MiB of messages, but has at least one: a client that reads slowly holds a node's memory. Messages that the
-- caller has cleared or deleted for themselves are left out.
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
                    -- As message_view. Calling that for each message would be half the cost of a page.
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

-- Returns: the seq of the last message on a page of `p_limit` between two seqs: upwards from the first, or downwards
-- from the last. Null if there are fewer. Seqs are dense, so this needs no look-up unless the member hides messages.
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
