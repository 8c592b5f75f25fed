-- What devices have received, by the cursors that they poll with.

-- Moves delivered marks forward, a batch in one call: each of `p_users` has received everything in a thread up to a
-- position of the log, or, where the thread is null, in all threads. Former members, bots, and marks that are there
-- already, are ignored. In threads of up to 100 members others get an event; in those of more than ten, one event about all
-- members that a batch moves. In larger threads nobody does, and only the member's row keeps the time: a row for each
-- message and member would be most of the database. `p_sessions` names the devices, null for none: where content waits
-- for them, their progress is recorded.
-- Locks: the devices' marks, the members' rows by thread and user, then the log
-- Costs: an index probe for each given thread, two for each thread of the user where none is given; then the marks
-- that move
create or replace function receipt_deliver(
    p_users uuid[], p_threads uuid[], p_positions bigint[], p_sessions uuid[] default null) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_users uuid[];
    v_threads uuid[];
    v_seqs bigint[];
    v_moved members[];
    v_own boolean[];
    v_together members[];
begin
    perform device_deliver(p_users, p_threads, p_positions, p_sessions);
    with given as (
        select g.user_id, g.thread_id, max(g.pos) as pos
        from unnest(p_users, p_threads, p_positions) g (user_id, thread_id, pos) group by g.user_id, g.thread_id
    ), heads as materialized (
        select n.thread_id, n.pos, (select x.seq from messages x where x.thread_id = n.thread_id and x.pos <= n.pos
            order by x.seq desc limit 1) as seq
        from (select distinct g.thread_id, g.pos from given g where g.thread_id is not null) n
    ), got as (
        select g.user_id, h.thread_id, h.seq from given g join heads h on h.thread_id = g.thread_id and h.pos = g.pos
        union all
        select m.user_id, m.thread_id, h.seq
        from given g
        join members m on m.user_id = g.user_id and m.status = 'joined'
        cross join lateral (select x.seq from messages x
            where x.thread_id = m.thread_id and x.seq > greatest(m.delivered_seq, m.read_seq) and x.pos <= g.pos
            order by x.seq desc limit 1) h
        where g.thread_id is null
    )
    select array_agg(g.user_id), array_agg(g.thread_id), array_agg(g.seq) into v_users, v_threads, v_seqs
    from (select g.user_id, g.thread_id, max(g.seq) as seq from got g where g.seq is not null
        group by g.user_id, g.thread_id) g
    -- Looked up by both columns, whatever the statistics: otherwise a room's members are read for each of them.
    cross join lateral (select x as member, x.status, x.delivered_seq, x.is_bot from members x where x.thread_id = g.thread_id
        and x.user_id between g.user_id and g.user_id order by x.thread_id, x.user_id limit 1) m
    cross join lateral member_marks(m.member) r
    where m.status = 'joined' and m.is_bot is null and g.seq > greatest(m.delivered_seq, r.read_seq);
    if v_users is null then
        return;
    end if;

    perform m.user_id
    from (select * from unnest(v_threads, v_users) u (thread_id, user_id) order by u.thread_id, u.user_id) g
    cross join lateral (select x.user_id from members x where x.thread_id = g.thread_id
        and x.user_id between g.user_id and g.user_id order by x.thread_id, x.user_id limit 1 for no key update) m;

    with moves as (
        select g.thread_id, g.user_id, g.seq, t.member_count <= 100 as is_told, t.member_count > 10 as is_large,
            r.own_seq < r.read_seq as is_back, m.place
        from unnest(v_users, v_threads, v_seqs) g (user_id, thread_id, seq)
        cross join lateral (select x.member_count from threads x where x.id = g.thread_id limit 1) t
        cross join lateral (select x as member, x.status, x.delivered_seq, x.ctid as place from members x
            where x.thread_id = g.thread_id and x.user_id between g.user_id and g.user_id
            order by x.thread_id, x.user_id limit 1) m
        cross join lateral member_marks(m.member) r
        where m.status = 'joined' and g.seq > greatest(m.delivered_seq, r.read_seq)
    ), marked as (
        insert into receipt_marks (thread_id, user_id, kind, seq, at)
        select v.thread_id, v.user_id, 'delivered', v.seq, v_now from moves v where v.is_told
        on conflict do nothing
    ), moved as (
        update members m set delivered_seq = v.seq, delivered_at = v_now
        from moves v where m.ctid = v.place
        returning m as member, v.is_told, v.is_large, v.is_back
    )
    select array_agg(x.member) filter (where not x.is_large), array_agg(x.is_back) filter (where not x.is_large),
        array_agg(x.member) filter (where x.is_large)
    into v_moved, v_own, v_together from moved x where x.is_told;
    perform receipt_announce(v_now, v_moved, array_fill(true, array[coalesce(cardinality(v_moved), 0)]), v_own, v_together);
end $$;

-- Records how far devices have come in threads where content waits for them.
-- Locks: the devices' marks
-- Costs: nothing where no content waits at all, otherwise two index probes a thread
create or replace function device_deliver(p_users uuid[], p_threads uuid[], p_positions bigint[], p_sessions uuid[]) returns void
language plpgsql volatile as $$
begin
    if (select u.pos from undelivered u limit 1) is null then
        return;
    end if;
    with given as (
        select g.session_id, t.id as thread_id, max(g.pos) as pos
        from unnest(p_users, p_threads, p_positions, p_sessions) g (user_id, thread_id, pos, session_id)
        cross join lateral (
            select m.thread_id from members m
            where m.thread_id = g.thread_id and m.user_id = g.user_id and m.status = 'joined'
            union all
            select m.thread_id from members m
            where g.thread_id is null and m.user_id = g.user_id and m.status = 'joined') t (id)
        where g.session_id is not null
            and (select u.pos from undelivered u where u.thread_id = t.id order by u.pos limit 1) <= g.pos
        group by g.session_id, t.id
    ), moved as (
        insert into device_marks as d (session_id, thread_id, pos)
        select g.session_id, g.thread_id, g.pos from given g
        -- A device that was signed out meanwhile leaves no mark.
        where exists (select from sessions s where s.id = g.session_id)
        order by g.session_id, g.thread_id
        on conflict (session_id, thread_id) do update set pos = excluded.pos where d.pos < excluded.pos
        returning d.thread_id
    )
    insert into undelivered_checks (thread_id, due_at) select distinct m.thread_id, stamp() from moved m;
end $$;

-- The same for receipts, which name a seq. An edited message waits for its edit, of which receipts say nothing.
-- Locks: the devices' marks
create or replace function device_receive(
    p_users uuid[], p_threads uuid[], p_read bigint[], p_delivered bigint[], p_sessions uuid[]) returns void
language plpgsql volatile as $$
begin
    if (select u.pos from undelivered u limit 1) is not null then
        perform device_deliver(p_users, p_threads, array(
            select (select m.pos from messages m where m.thread_id = g.thread_id
                and m.seq between greatest(g.read, g.delivered) and greatest(g.read, g.delivered) order by m.seq limit 1)
            from unnest(p_threads, p_read, p_delivered) with ordinality g (thread_id, read, delivered, item)
            order by g.item), p_sessions);
    end if;
end $$;
