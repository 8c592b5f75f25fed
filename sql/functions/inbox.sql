-- The caller's threads, newest activity first, a page as JSON text, all from one snapshot:
-- `head` is that snapshot's last position, so that syncing from it misses nothing and repeats nothing.
-- Costs what user_threads costs; the entries themselves are built for the page only. `next_rank`, and `p_after_rank` with the
-- next page, are milliseconds since 1970. A page ends before it has more than 1 MiB, but for its first thread.
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
    ), wanted as (
        select i.*, row_number() over () as place
        from (select j.* from mine j
            where (not p_unread_only or j.unread > 0) and (v_after is null or (j.rank, j.thread_id) < (v_after, p_after_id))
            order by j.rank desc, j.thread_id desc
            limit p_limit + 1) i
    ), page as materialized (
        select w.place, w.rank, w.thread_id, s.view::text as entry,
            w.place <= p_limit
                and (w.place = 1 or sum(octet_length(s.view::text) + 1) over (order by w.place) <= 1048576) as fits
        from wanted w
        join threads t on t.id = w.thread_id
        join members m on m.thread_id = w.thread_id and m.user_id = p_user
        cross join lateral thread_shown(t, m, w.read_seq, w.own_seq, w.head, w.head_at, w.unread) s
    )
    select
        coalesce('[' || string_agg(p.entry, ',' order by p.place) filter (where p.fits) || ']', '[]'),
        (select coalesce(sum(i.unread), 0)::bigint from mine i),
        log_head(), log_epoch(),
        case when not bool_and(p.fits) then
            (extract(epoch from min(p.rank) filter (where p.fits)) * 1000)::bigint end,
        case when not bool_and(p.fits) then
            (array_agg(p.thread_id order by p.place desc) filter (where p.fits))[1] end
    from page p;
end $$;
