-- Publishing marks in threads of 11 to 100 members, where receipt_put leaves that for a second later.

-- Publishes all unpublished marks of each of `p_threads`, in one event a thread, if the oldest of them is a second
-- old. So a thread's members get one event a second, however many people read at however many nodes. With null for
-- `p_threads`: the marks that no node seems to publish, in 20 threads. A mark moves under its member's lock.
-- Publishing takes that lock too: so what is published is as new as the row that is deleted.
-- Returns: the threads that are not due yet; with null for `p_threads`, those that are left.
-- Locks: the members' rows by thread and user, their rows of receipt_news, then the log
create or replace function receipt_publish(p_threads uuid[], p_now timestamptz default null) returns table (thread_id uuid)
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_asked uuid[] := p_threads;
    v_due uuid[];
    v_threads uuid[];
    v_users uuid[];
    v_told members[];
begin
    if p_threads is null then
        v_asked := array(select distinct n.thread_id from receipt_news n where n.since <= v_now - interval '5 s' limit 1000);
        v_due := v_asked[1:20];
    else
        v_due := array(select g.id from unnest(p_threads) g (id)
            where (select min(n.since) from receipt_news n where n.thread_id = g.id) <= v_now - interval '1 s');
    end if;

    if v_due <> '{}' then
        select array_agg(l.thread_id), array_agg(l.user_id) into v_threads, v_users
        from (
            select x.thread_id, x.user_id
            from (select n.thread_id, n.user_id from receipt_news n where n.thread_id = any (v_due)
                order by n.thread_id, n.user_id) n
            cross join lateral (select m.thread_id, m.user_id from members m where m.thread_id = n.thread_id
                and m.user_id between n.user_id and n.user_id order by m.thread_id, m.user_id limit 1 for no key update) x
        ) l;
        with gone as (
            delete from receipt_news n
            where n.ctid = any (array(
                select x.ctid from unnest(v_threads, v_users) g (thread_id, user_id)
                cross join lateral (select y.ctid from receipt_news y
                    where y.thread_id = g.thread_id and y.user_id = g.user_id limit 1) x))
            returning n.thread_id, n.user_id
        )
        select array_agg(g.thread_id), array_agg(g.user_id) into v_threads, v_users from gone g;
        -- In a separate statement: it sees what previous holders of the members' locks committed.
        select array_agg(m.member) into v_told
        from unnest(v_threads, v_users) g (thread_id, user_id)
        cross join lateral (select x as member from members x where x.thread_id = g.thread_id
            and x.user_id between g.user_id and g.user_id order by x.thread_id, x.user_id limit 1) m
        where (m.member).status = 'joined' and (select t.member_count from threads t where t.id = g.thread_id) <= 100;
        perform receipt_announce(v_now, null, null, null, v_told);
    end if;

    return query
    select distinct g.id from unnest(v_asked) g (id)
    where g.id <> all (v_due) and (select n.since from receipt_news n where n.thread_id = g.id limit 1) is not null;
end $$;
