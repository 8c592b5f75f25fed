-- The caller's threads, newest activity first, a page as JSON text, all from one snapshot:
-- `head` is that snapshot's last position, so that syncing from it misses nothing and repeats nothing.
-- Costs what user_threads costs; the entries themselves are built for the page only. `next_rank`, and `p_after_rank` with the
-- next page, are milliseconds since 1970.
-- In PL/pgSQL, which keeps its plans: planning it, or a call of an SQL function for each thread, would be most of what it
-- costs.
-- locks: nothing
create or replace function inbox(p_user uuid, p_limit int, p_unread_only boolean, p_after_rank bigint, p_after_id uuid)
returns table (threads text, unread_total bigint, head bigint, epoch int, next_rank bigint, next_id uuid)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set enable_memoize = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_after timestamptz := timestamptz 'epoch' + p_after_rank * interval '1 millisecond';
begin
    return query
    with mine as materialized (
        select * from user_threads(p_user)
    ), page as (
        select i.*, row_number() over () as place
        from (select j.* from mine j
            where (not p_unread_only or j.unread > 0) and (v_after is null or (j.rank, j.thread_id) < (v_after, p_after_id))
            order by j.rank desc, j.thread_id desc
            limit p_limit + 1) i
    )
    select
        coalesce('[' || string_agg(s.view::text, ',' order by p.place)
            filter (where p.place <= p_limit) || ']', '[]'),
        (select coalesce(sum(i.unread), 0)::bigint from mine i),
        log_head(), log_epoch(),
        case when count(*) > p_limit then
            (extract(epoch from min(p.rank) filter (where p.place = p_limit)) * 1000)::bigint end,
        case when count(*) > p_limit then (array_agg(p.thread_id) filter (where p.place = p_limit))[1] end
    from page p
    join threads t on t.id = p.thread_id
    join members m on m.thread_id = p.thread_id and m.user_id = p_user
    cross join lateral thread_shown(t, m, p.read_seq, p.own_seq, p.head, p.head_at, p.unread) s;
end $$;
