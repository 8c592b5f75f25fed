-- Returns: who has received and read a message, with the times, without its sender: a page by user id of JSON texts
-- {user, delivered_at, read_at}, without bots. Sending a later message counts as reading. Looks at 1,000 members at most. If there
-- are more members, the last row has no item, and its id is where to continue.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
create or replace function message_receipts(
    p_user uuid, p_thread uuid, p_message uuid, p_limit int default 31, p_after_rank bigint default null,
    p_after_id uuid default null
) returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
declare
    v_member_max constant int := 1000;
    v_message messages := message_of(member_joined(p_thread, p_user), p_message);
    -- This id is before any other.
    v_after uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
    v_last uuid;
    v_count int;
begin
    return query
    select json_build_object('user', user_json(u), 'delivered_at', rfc3339(r.delivered_at), 'read_at', rfc3339(r.read_at))::text,
        0::bigint, m.user_id
    from (select x.* from members x where x.thread_id = p_thread and x.user_id > v_after
        order by x.user_id limit v_member_max) m
    cross join lateral (select a.created_at as answered_at from (select (select b.created_at from messages b
        where sender_key(b.sender_id, b.thread_id) = sender_key(m.user_id, p_thread) and b.seq::int > v_message.seq::int
            and sender_is(b, m.user_id, p_thread) order by b.seq::int limit 1)) a (created_at)) a
    cross join lateral (
        select least(x.read_at, x.delivered_at, a.answered_at, x.got_at) as delivered_at,
            least(x.read_at, a.answered_at) as read_at
        from (select
            (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                and k.kind = 'read' and k.seq >= v_message.seq) as read_at,
            (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                and k.kind = 'delivered' and k.seq >= v_message.seq) as delivered_at,
            -- A large thread only keeps the time of the last mark.
            case when m.delivered_seq >= v_message.seq then m.delivered_at end as got_at) x
    ) r
    cross join lateral (select x.* from users x where x.id = m.user_id limit 1) u
    where m.status = 'joined' and m.user_id is distinct from v_message.sender_id and m.is_bot is null
        -- Without one of these there is no mark to show.
        and (greatest(m.read_seq, m.delivered_seq) >= v_message.seq or a.answered_at is not null)
        and r.delivered_at is not null
    order by m.user_id limit p_limit;
    get diagnostics v_count = row_count;
    if v_count < p_limit then
        select m.user_id into v_last from members m where m.thread_id = p_thread and m.user_id > v_after
        order by m.user_id offset v_member_max - 1 limit 1;
        if exists (select from members m where m.thread_id = p_thread and m.user_id > v_last) then
            return query select null::text, 0::bigint, v_last;
        end if;
    end if;
end $$;
