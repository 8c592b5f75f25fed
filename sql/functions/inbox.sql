-- The caller's threads, newest activity first, a page as JSON text, all from one snapshot:
-- `head` is that snapshot's last position, so that syncing from it misses nothing and repeats nothing.
-- Costs a few index probes a thread of the caller's, fewer where all is read; the entries themselves are built for the page
-- only. A mark is never past the head, so that the head is looked for from there on: without a lower bound the look-up
-- reads a whole page of the index.
-- In PL/pgSQL, which keeps its plans, and written out: planning it, or a call of an SQL function for each thread, would be
-- most of what it costs. `offset 0` keeps what is used twice from being computed twice. The marks are those of member_marks.
-- locks: nothing
create or replace function inbox(p_user uuid, p_limit int, p_unread_only boolean, p_after_rank bigint, p_after_id uuid)
returns table (threads text, unread_total bigint, head bigint, epoch int, next_rank bigint, next_id uuid)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
set enable_memoize = off set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    with mine as materialized (
        select m.thread_id as id,
            (date_part('epoch', coalesce(l.created_at, case when m.status = 'invited' then m.invited_at end,
                (select t.created_at from threads t where t.id = m.thread_id))) * 1000)::bigint as rank,
            -- As unread_count has it, which is called where it is more than this.
            case when l.seq > greatest(o.seq, m.hidden_before_seq - 1) is not true then 0
                when o.seq < r.seq or m.hides then unread_count(m, o.seq, l.seq)
                else l.seq - greatest(o.seq, m.hidden_before_seq - 1) - (select count(*) from messages x
                    where x.thread_id = m.thread_id and x.seq > greatest(o.seq, m.hidden_before_seq - 1)
                        and (x.deleted_at is not null or x.sender_id is null)) end as unread
        from members m
        left join lateral (select x.seq, x.created_at, x.sender_id from messages x
            where x.thread_id = m.thread_id and x.seq >= greatest(m.read_seq, m.delivered_seq) and m.status = 'joined'
            order by x.seq desc limit 1) l on true
        cross join lateral (select case when l.sender_id = m.user_id or m.read_seq >= l.seq then l.seq
            else greatest(m.read_seq, (select s.seq from messages s
                where s.thread_id = m.thread_id and s.sender_id = m.user_id and s.seq > m.read_seq
                order by s.seq desc limit 1)) end as seq offset 0) r
        cross join lateral (select case when m.back_from_seq = r.seq
            then coalesce(m.back_to_seq, r.seq) else r.seq end as seq offset 0) o
        where m.user_id = p_user and m.status in ('joined', 'invited')
    ), page as (
        select i.*, row_number() over () as place
        from (select j.* from mine j
            where (not p_unread_only or j.unread > 0)
                and (p_after_rank is null or (j.rank, j.id) < (p_after_rank, p_after_id))
            order by j.rank desc, j.id desc
            limit p_limit + 1) i
    )
    select
        coalesce('[' || string_agg(s.view::text, ',' order by p.place)
            filter (where p.place <= p_limit) || ']', '[]'),
        (select coalesce(sum(i.unread), 0)::bigint from mine i),
        log_head(), log_epoch(),
        case when count(*) > p_limit then min(p.rank) filter (where p.place = p_limit) end,
        case when count(*) > p_limit then (array_agg(p.id) filter (where p.place = p_limit))[1] end
    from page p
    join threads t on t.id = p.id
    join members m on m.thread_id = p.id and m.user_id = p_user
    cross join lateral thread_shown(t, m) s;
end $$;
