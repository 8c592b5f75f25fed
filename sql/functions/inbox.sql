-- The caller's threads, newest activity first, a page as JSON text, all from one snapshot:
-- `head` is that snapshot's last position, so that syncing from it misses nothing and repeats nothing.
-- Costs a few index probes a thread of the caller's; the entries themselves are built for the page only.
-- locks: nothing
create or replace function inbox(p_user uuid, p_limit int, p_unread_only boolean, p_after_rank bigint, p_after_id uuid)
returns table (threads text, unread_total bigint, head bigint, epoch int, next_rank bigint, next_id uuid)
language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
    with mine as materialized (
        select m as member, t as thread,
            (extract(epoch from thread_activity(t, m, l.created_at)) * 1000)::bigint as rank,
            case when l.seq is null then 0 else unread_count(m, member_read_seq(m), l.seq) end as unread
        from members m
        join threads t on t.id = m.thread_id
        left join lateral (select x.seq, x.created_at from messages x
            where x.thread_id = m.thread_id and m.status = 'joined' order by x.seq desc limit 1) l on true
        where m.user_id = p_user and m.status in ('joined', 'invited')
    ), page as (
        select i.*, row_number() over (order by i.rank desc, (i.thread).id desc) as place
        from mine i
        where (not p_unread_only or i.unread > 0)
            and (p_after_rank is null or (i.rank, (i.thread).id) < (p_after_rank, p_after_id))
        order by i.rank desc, (i.thread).id desc
        limit p_limit + 1
    )
    select
        coalesce('[' || string_agg(thread_view(p.thread, p.member)::text, ',' order by p.place)
            filter (where p.place <= p_limit) || ']', '[]'),
        (select coalesce(sum(i.unread), 0)::bigint from mine i),
        log_head(), log_epoch(),
        case when count(*) > p_limit then min(p.rank) filter (where p.place = p_limit) end,
        case when count(*) > p_limit then (array_agg((p.thread).id) filter (where p.place = p_limit))[1] end
    from page p
$$;
