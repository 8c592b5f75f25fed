-- Receipts: marks that say how far a member has got a thread's messages, and read them.

-- A member's marks as receipt.updated tells of them. `p_read` is the read mark: the one that all see (`p_seen`), or the
-- member's own (`p_own`). The counts are always the member's own. Inlined where it is called, as it looks nothing up itself.
drop function if exists receipt_json(members, bigint);
create or replace function receipt_json(m members, p_read bigint, p_seen bigint, p_own bigint) returns text
language sql stable as $$
    select json_build_object('user_id', m.user_id, 'read_seq', p_read,
        'delivered_seq', greatest(m.delivered_seq, p_seen), 'read_at', rfc3339(m.read_at),
        'delivered_at', rfc3339(m.delivered_at), 'unread_count', unread_count(m, p_own, thread_head(m.thread_id)),
        'mention_count', mention_count(m, p_own))::text
$$;

-- A member's marks as the other members see them, where many are told of together: without counts.
create or replace function receipt_seen_json(m members, p_read bigint) returns text
language sql stable as $$
    select json_build_object('user_id', m.user_id, 'read_seq', p_read, 'delivered_seq', greatest(m.delivered_seq, p_read),
        'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at))::text
$$;

-- Tells of members' new marks, and gives the last position written. Call it with the log's lock held: the counts are those
-- of its place in the log.
--   p_public   for each member, whether all are to hear of this one by itself
--   p_own      and whether the member's own devices are to, with the mark that they see themselves
--   p_together   members of whom those in one thread are told of in one event
drop function if exists receipt_log(bigint, timestamptz, members[], boolean[], boolean[]);
create or replace function receipt_log(
    p_head bigint, p_now timestamptz, p_members members[], p_public boolean[], p_own boolean[],
    p_together members[] default null
) returns bigint
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_count bigint;
begin
    insert into events (pos, at, type, thread_id, user_id, body)
    select p_head + row_number() over (order by e.thread_id, e.member_id, e.is_own), p_now, 'receipt.updated', e.thread_id,
        case when e.is_own then e.member_id end, event_json('receipt.updated', e.thread_id, p_now, e.data)
    from (
        select (x.member).thread_id, (x.member).user_id as member_id, k.is_own,
            receipt_json(x.member, case when k.is_own then r.own_seq else r.read_seq end, r.read_seq, r.own_seq) as data
        from generate_subscripts(p_members, 1) i
        cross join lateral (select p_members[i] as member) x
        cross join lateral member_marks(x.member) r
        cross join (values (false), (true)) k (is_own)
        where case when k.is_own then p_own[i] else p_public[i] end
        union all
        select m.thread_id, null, false,
            '{"receipts":[' || string_agg(receipt_seen_json(m, r.read_seq), ',' order by m.user_id) || ']}'
        from unnest(p_together) m cross join lateral member_marks(m) r
        group by m.thread_id
    ) e;
    get diagnostics v_count = row_count;
    return p_head + v_count;
end $$;

-- The same where there is nothing else to tell of; nothing where there is nothing at all.
-- locks: the log
create or replace function receipt_announce(
    p_now timestamptz, p_members members[], p_public boolean[], p_own boolean[], p_together members[] default null
) returns void
language plpgsql volatile as $$
begin
    if p_members is not null or p_together is not null then
        perform log_announce(receipt_log(log_begin(), p_now, p_members, p_public, p_own, p_together));
    end if;
end $$;

-- Moves marks forward, a batch at once: an outcome an item, in no particular order.
--   outcome   ok (moved, or already further) | no_thread | not_joined | past_head
--   is_untold   the other members have yet to hear of this member's marks (receipt_tell)
-- `p_read` and `p_delivered` may each be null. Reading implies having got. Several items of one member are one move.
-- In threads of up to ten members all hear of it at once. In larger ones only the member's own devices do, and the others,
-- where there are up to 100, a second later, of all who moved meanwhile: else who reads where a hundred do would be told of
-- a hundred times, and so would everyone else.
-- `p_sessions` names the devices that say so, null for none: they have got that much themselves (device_deliver).
-- Dropped first, because its columns may become more: at the end, where older nodes don't look.
-- locks: the devices' marks, the members' rows by thread and user, then the log
drop function if exists receipt_put(uuid[], uuid[], bigint[], bigint[]);
drop function if exists receipt_put(uuid[], uuid[], bigint[], bigint[], uuid[]);
create function receipt_put(
    p_users uuid[], p_threads uuid[], p_read bigint[], p_delivered bigint[], p_sessions uuid[] default null
) returns table (item int, outcome text, is_untold boolean)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := stamp();
    v_moved members[];
    v_public boolean[];
    v_own boolean[];
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
            -- Who has gone back comes forward again from there.
            case when r.own_seq < r.read_seq and w.read > r.own_seq then w.read end as own,
            r.own_seq < r.read_seq and coalesce(w.read, 0) <= r.read_seq as is_back, r.read_seq
        from wanted w
        join threads t on t.id = w.thread_id
        join members m on m.thread_id = w.thread_id and m.user_id = w.user_id and m.status = 'joined'
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
        returning m as member, v.read is not null or v.delivered is not null as is_public, v.is_back, v.member_count
    ), news as (
        insert into receipt_news (thread_id, user_id, since)
        select (x.member).thread_id, (x.member).user_id, v_now
        from moved x where x.is_public and x.member_count between 11 and 100
        on conflict do nothing
    )
    select array_agg(x.member), array_agg(x.is_public and x.member_count <= 10),
        array_agg(x.is_back or x.member_count > 10)
    into v_moved, v_public, v_own from moved x;

    perform receipt_announce(v_now, v_moved, v_public, v_own);

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

-- Who has a message and who has read it, each with the time it came to be so, its sender left out: a page by user id, of
-- JSON texts {user, delivered_at, read_at}. Sending a later message counts as reading.
-- Looks at 1,000 members at most, however many there are. If it has not come to the end by then, the last row has no item
-- but the id to go on from.
-- Fails: PY404 thread_not_found, message_not_found; PY403 not_joined.
-- locks: nothing
-- The one with fewer arguments would make a call that leaves out the page ambiguous.
drop function if exists message_receipts(uuid, uuid, uuid);
create or replace function message_receipts(
    p_user uuid, p_thread uuid, p_message uuid, p_limit int default 31, p_after_rank bigint default null,
    p_after_id uuid default null
) returns table (item text, rank bigint, id uuid)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_member_max constant int := 1000;
    v_message messages := message_of(member_joined(p_thread, p_user), p_message);
    -- Before any id.
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
        where b.thread_id = p_thread and b.sender_id = m.user_id and b.seq > v_message.seq order by b.seq limit 1)) a (created_at)) a
    cross join lateral (
        select least(x.read_at, x.delivered_at, a.answered_at, x.got_at) as delivered_at,
            least(x.read_at, a.answered_at) as read_at
        from (select
            (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                and k.kind = 'read' and k.seq >= v_message.seq) as read_at,
            (select min(k.at) from receipt_marks k where k.thread_id = p_thread and k.user_id = m.user_id
                and k.kind = 'delivered' and k.seq >= v_message.seq) as delivered_at,
            -- The last mark's time, where a large thread keeps no others.
            case when m.delivered_seq >= v_message.seq then m.delivered_at end as got_at) x
    ) r
    cross join lateral (select x.* from users x where x.id = m.user_id limit 1) u
    where m.status = 'joined' and m.user_id is distinct from v_message.sender_id
        -- Without one of these there is no mark.
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
