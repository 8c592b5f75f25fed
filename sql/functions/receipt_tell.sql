-- Tells of marks in threads of 11 to 100 members, where that isn't done at once (receipt_put).

-- Tells the members of each of `p_threads`, in one event a thread, of all marks that they haven't heard of, if the oldest
-- is a second old; gives the threads where it isn't yet. So however many read, at however many nodes, a thread's members are
-- told of it once a second. With null for `p_threads`: of what nobody seems to be about to tell, in 20 threads; gives more.
-- A mark moves under its member's lock, which is why telling takes that, too: what is told is as new as the row that goes.
-- locks: the members' rows by thread and user, then their news, then the log
create or replace function receipt_tell(p_threads uuid[], p_now timestamptz default null) returns table (thread_id uuid)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
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
            select m.thread_id, m.user_id from receipt_news n
            join members m on m.thread_id = n.thread_id and m.user_id = n.user_id
            where n.thread_id = any (v_due)
            order by m.thread_id, m.user_id for no key update of m
        ) l;
        with gone as (
            delete from receipt_news n using unnest(v_threads, v_users) g (thread_id, user_id)
            where n.thread_id = g.thread_id and n.user_id = g.user_id
            returning n.thread_id, n.user_id
        )
        select array_agg(g.thread_id), array_agg(g.user_id) into v_threads, v_users from gone g;
        -- In a statement of its own: it sees what those did who held the members' rows before.
        select array_agg(m) into v_told
        from unnest(v_threads, v_users) g (thread_id, user_id)
        join members m on m.thread_id = g.thread_id and m.user_id = g.user_id and m.status = 'joined'
        join threads t on t.id = m.thread_id and t.member_count <= 100;
        perform receipt_announce(v_now, null, null, null, v_told);
    end if;

    return query
    select distinct g.id from unnest(v_asked) g (id) join receipt_news n on n.thread_id = g.id where g.id <> all (v_due);
end $$;
