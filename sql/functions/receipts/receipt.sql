-- Receipts: marks that say how far a member has received a thread's messages (delivered), and read them.

-- Returns: a member's marks for receipt.updated. `p_read` is the read mark to show: the one that all see (`p_seen`),
-- or the member's own (`p_own`). The counts are always the member's own. Inlined, because it looks nothing up itself.
create or replace function receipt_json(m members, p_read bigint, p_seen bigint, p_own bigint) returns text
language sql stable as $$
    select json_build_object('user_id', m.user_id, 'read_seq', p_read,
        'delivered_seq', greatest(m.delivered_seq, p_seen), 'read_at', rfc3339(m.read_at),
        'delivered_at', rfc3339(m.delivered_at), 'unread_count', unread_count(m, p_own, thread_head(m.thread_id)),
        'mention_count', mention_count(m, p_own))::text
$$;

-- Returns: a member's marks as the other members see them, without counts, for an event about several members.
create or replace function receipt_seen_json(m members, p_read bigint) returns text
language sql stable as $$
    select json_build_object('user_id', m.user_id, 'read_seq', p_read, 'delivered_seq', greatest(m.delivered_seq, p_read),
        'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at))::text
$$;

-- Writes the events about members' new marks.
--   p_public     for each member, whether all members get an event about this one
--   p_own        for each member, whether the member's own devices get one, with the marks that they see themselves
--   p_together   members about whom each thread gets one event together
--   p_alone      for each member, whether no event for others follows: integrations see the member's own then
-- Returns: the last position written.
-- Locks: the caller holds the log: the counts are those of this place in the log
create or replace function receipt_log(
    p_head bigint, p_now timestamptz, p_members members[], p_public boolean[], p_own boolean[],
    p_together members[] default null, p_alone boolean[] default null
) returns bigint
language plpgsql volatile as $$
declare
    v_count bigint;
begin
    insert into events (pos, at, type, thread_id, user_id, seq, actor_id, is_change, body)
    select p_head + row_number() over (order by e.thread_id, e.member_id, e.is_own), p_now, 'receipt.updated', e.thread_id,
        case when e.is_own then e.member_id end, e.seq, e.member_id, e.is_change,
        event_json('receipt.updated', e.thread_id, p_now, e.data)
    from (
        select (x.member).thread_id, (x.member).user_id as member_id, k.is_own,
            case when (x.member).read_at = p_now then (x.member).read_seq else 0 end as seq,
            case when k.is_own and p_alone[i] then true end as is_change,
            receipt_json(x.member, case when k.is_own then r.own_seq else r.read_seq end, r.read_seq, r.own_seq) as data
        from generate_subscripts(p_members, 1) i
        cross join lateral (select p_members[i] as member) x
        cross join lateral member_marks(x.member) r
        cross join (values (false), (true)) k (is_own)
        where case when k.is_own then p_own[i] else p_public[i] end
        union all
        select m.thread_id, null, false, 0, null,
            '{"receipts":[' || string_agg(receipt_seen_json(m, r.read_seq), ',' order by m.user_id) || ']}'
        from unnest(p_together) m cross join lateral member_marks(m) r
        group by m.thread_id
    ) e;
    get diagnostics v_count = row_count;
    return p_head + v_count;
end $$;

-- The same, when there is nothing else to write to the log. Does nothing without members.
-- Locks: the log
create or replace function receipt_announce(
    p_now timestamptz, p_members members[], p_public boolean[], p_own boolean[], p_together members[] default null,
    p_alone boolean[] default null
) returns void
language plpgsql volatile as $$
begin
    if p_members is not null or p_together is not null then
        perform log_announce(receipt_log(log_begin(), p_now, p_members, p_public, p_own, p_together, p_alone));
    end if;
end $$;

-- Moves marks forward, a batch in one call. Those of bots do not move. `p_read` and `p_delivered` may each be null. Reading implies receiving.
-- Several items of one member are one move. `p_sessions` names the devices that say so, null for none: they themselves
-- have received that much (device_deliver). In threads of up to ten members all get an event at once. In larger ones
-- the member's own devices do; the others, up to 100 members, get one event a second later about all who moved
-- meanwhile. Otherwise, where a hundred people read, everyone would get a hundred events.
-- Returns: a row for each item, in no particular order:
--   outcome        ok (moved, or already further) | no_thread | not_joined | past_head
--   is_unpublished the other members have yet to get these marks (receipt_publish)
-- Locks: the devices' marks, the members' rows by thread and user, then the log
create or replace function receipt_put(
    p_users uuid[], p_threads uuid[], p_read bigint[], p_delivered bigint[], p_sessions uuid[] default null
) returns table (item int, outcome text, is_unpublished boolean)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_moved members[];
    v_public boolean[];
    v_own boolean[];
    v_alone boolean[];
begin
    perform device_receive(p_users, p_threads, p_read, p_delivered, p_sessions);
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
        select m.thread_id, m.user_id, t.member_count,
            case when w.read > r.read_seq then w.read end as read,
            case when w.delivered > greatest(m.delivered_seq, r.read_seq) then w.delivered end as delivered,
            -- A member who marked the thread unread moves forward from there.
            case when r.own_seq < r.read_seq and w.read > r.own_seq then w.read end as own,
            r.own_seq < r.read_seq and coalesce(w.read, 0) <= r.read_seq as is_back, r.read_seq
        from wanted w
        join threads t on t.id = w.thread_id
        join members m on m.thread_id = w.thread_id and m.user_id = w.user_id and m.status = 'joined' and m.is_bot is null
        cross join lateral member_marks(m) r
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
            delivered_at = case when v.delivered is null then m.delivered_at else v_now end,
            back_to_seq = case when v.is_back and coalesce(v.own, 0) < v.read_seq then coalesce(v.own, m.back_to_seq) end
        from moves v
        where m.thread_id = v.thread_id and m.user_id = v.user_id
            and (v.read is not null or v.delivered is not null or v.own is not null)
        returning m as member, v.read is not null or v.delivered is not null as is_public, v.is_back, v.member_count,
            v.read is not null and v.member_count > 100 as is_alone
    ), news as (
        insert into receipt_news (thread_id, user_id, since)
        select (x.member).thread_id, (x.member).user_id, v_now
        from moved x where x.is_public and x.member_count between 11 and 100
        on conflict do nothing
    )
    select array_agg(x.member), array_agg(x.is_public and x.member_count <= 10),
        array_agg(x.is_back or x.member_count > 10), array_agg(x.is_alone)
    into v_moved, v_public, v_own, v_alone from moved x;

    perform receipt_announce(v_now, v_moved, v_public, v_own, null, v_alone);

    return query
    select g.item::int, case
        when m.status is null or m.status in ('left', 'removed') then 'no_thread'
        when m.status = 'invited' then 'not_joined'
        when greatest(g.read, g.delivered) > thread_head(g.thread_id) then 'past_head'
        else 'ok' end,
        (select n.since from receipt_news n where n.thread_id = g.thread_id and n.user_id = g.user_id) is not null
    from unnest(p_users, p_threads, p_read, p_delivered) with ordinality as g (user_id, thread_id, read, delivered, item)
    left join members m on m.thread_id = g.thread_id and m.user_id = g.user_id;
end $$;
