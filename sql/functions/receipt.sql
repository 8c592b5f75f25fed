-- Receipts: marks that say how far a member has got a thread's messages, and read them.

-- Moves marks forward, a batch at once: an outcome an item, in no particular order.
--   outcome   ok (moved, or already further) | no_thread | not_joined | past_head
-- `p_read` and `p_delivered` may each be null. Reading implies having got. Several items of one member are one move.
-- locks: the members' rows by thread and user, then the log
create or replace function receipt_put(p_users uuid[], p_threads uuid[], p_read bigint[], p_delivered bigint[])
returns table (item int, outcome text)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := stamp();
    v_head bigint;
    v_moved members[];
begin
    perform from members m
    where (m.thread_id, m.user_id) in (select u.thread_id, u.user_id from unnest(p_threads, p_users) u (thread_id, user_id))
    order by m.thread_id, m.user_id for no key update;

    with given as (
        select g.item, g.user_id, g.thread_id, g.read, greatest(g.delivered, g.read) as delivered
        from unnest(p_users, p_threads, p_read, p_delivered) with ordinality as g (user_id, thread_id, read, delivered, item)
    ), wanted as (
        select g.thread_id, g.user_id, max(g.read) as read, max(g.delivered) as delivered
        from given g where g.delivered <= thread_head(g.thread_id)
        group by g.thread_id, g.user_id
    ), moves as (
        select m.thread_id, m.user_id,
            case when w.read > member_read_seq(m) then w.read end as read,
            case when w.delivered > greatest(m.delivered_seq, member_read_seq(m)) then w.delivered end as delivered
        from wanted w
        join members m on m.thread_id = w.thread_id and m.user_id = w.user_id and m.status = 'joined'
    ), marked as (
        insert into receipt_marks (thread_id, user_id, kind, seq, at)
        select v.thread_id, v.user_id, k.kind, k.seq, v_now
        from moves v cross join lateral (values ('read', v.read), ('delivered', v.delivered)) k (kind, seq)
        where k.seq is not null
        on conflict do nothing
    ), moved as (
        update members m set
            read_seq = coalesce(v.read, m.read_seq), read_at = case when v.read is null then m.read_at else v_now end,
            delivered_seq = coalesce(v.delivered, m.delivered_seq),
            delivered_at = case when v.delivered is null then m.delivered_at else v_now end
        from moves v
        where m.thread_id = v.thread_id and m.user_id = v.user_id and (v.read is not null or v.delivered is not null)
        returning m as member
    )
    select array_agg(x.member) into v_moved from moved x;

    if v_moved is not null then
        v_head := log_begin();
        insert into events (pos, at, type, thread_id, user_id, body)
        select v_head + row_number() over (order by m.thread_id, m.user_id), v_now, 'receipt.updated', m.thread_id,
            case when t.member_count > 100 then m.user_id end,
            event_json('receipt.updated', m.thread_id, v_now, json_build_object('user_id', m.user_id,
                'read_seq', r.seq, 'delivered_seq', greatest(m.delivered_seq, r.seq),
                'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at),
                'unread_count', unread_count(m::members, r.seq, thread_head(m.thread_id)))::text)
        from unnest(v_moved) m join threads t on t.id = m.thread_id
        cross join lateral (select member_read_seq(m::members) as seq) r;
        perform log_announce(v_head + cardinality(v_moved));
    end if;

    return query
    select g.item::int, case
        when m.status is null or m.status in ('left', 'removed') then 'no_thread'
        when m.status = 'invited' then 'not_joined'
        when greatest(g.read, g.delivered) > thread_head(g.thread_id) then 'past_head'
        else 'ok' end
    from unnest(p_users, p_threads, p_read, p_delivered) with ordinality as g (user_id, thread_id, read, delivered, item)
    left join members m on m.thread_id = g.thread_id and m.user_id = g.user_id;
end $$;

-- Who has a message and who has read it, each with the time it came to be so, its sender left out, as JSON text
-- {receipts: [{user, delivered_at, read_at}]}. Sending a later message counts as reading.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
create or replace function message_receipts(p_user uuid, p_thread uuid, p_message uuid) returns text
language plpgsql stable
set enable_seqscan = off
as $$
declare
    v_member members := member_joined(p_thread, p_user);
    v_message messages := message_of(v_member, p_message);
begin
    return (
        select json_build_object('receipts', coalesce(json_agg(json_build_object('user', user_json(u),
            'delivered_at', rfc3339(r.delivered_at), 'read_at', rfc3339(r.read_at)) order by r.delivered_at, u.id), '[]'))::text
        from members m
        join users u on u.id = m.user_id
        cross join lateral (
            select least(x.read_at, x.delivered_at, x.answered_at) as delivered_at, least(x.read_at, x.answered_at) as read_at
            from (select
                (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                    and k.kind = 'read' and k.seq >= v_message.seq) as read_at,
                (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                    and k.kind = 'delivered' and k.seq >= v_message.seq) as delivered_at,
                (select a.created_at from messages a where a.thread_id = p_thread and a.sender_id = m.user_id
                    and a.seq > v_message.seq order by a.seq limit 1) as answered_at) x
        ) r
        where m.thread_id = p_thread and m.status = 'joined' and m.user_id is distinct from v_message.sender_id
            and r.delivered_at is not null);
end $$;
