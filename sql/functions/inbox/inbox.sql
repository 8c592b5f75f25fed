-- A user's inbox.

-- Returns: a page of the caller's threads as JSON text, the newest activity first, all from one snapshot. `head` is
-- that snapshot's last position: syncing from it misses and repeats nothing. `next_rank`, and `p_after_rank` for the
-- next page, are milliseconds since 1970. `p_labels`: only threads that have all of these labels, their own or the
-- caller's; null: all threads. A page ends before 1 MiB, but has at least one thread. In PL/pgSQL, which
-- keeps its plans: planning, or a call of an SQL function for each thread, would be most of the cost.
-- Costs: as user_threads; entries are built for the page only
create or replace function inbox(
    p_user uuid, p_limit int, p_unread_only boolean, p_after_rank bigint, p_after_id uuid, p_labels text[] default null)
returns table (threads text, unread_total bigint, head bigint, epoch int, next_rank bigint, next_id uuid)
language plpgsql stable
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
            where (not p_unread_only or j.unread > 0)
                and (p_labels is null or (
                    select labels_json(t.labels) || labels_json(j.labels) from threads t where t.id = j.thread_id)
                    @> p_labels)
                and (v_after is null or (j.rank, j.thread_id) < (v_after, p_after_id))
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

-- Returns: the threads that a user has joined or is invited to, with what their inbox counts. `head` and `head_at` are
-- null for a thread without messages that the user sees.
--   rank                when something last happened that the user may know of: thread_activity
--   read_seq, own_seq   as in member_marks
--   unread              as unread_count, which is only called where this query cannot count by itself
--   labels              the user's own
-- Costs: a few index probes a thread, fewer where all is read. A mark is never past the head, so the head is looked
-- for from the mark on: without a lower bound the look-up reads a whole page of the index Inlined where it is in
-- FROM. `offset 0` keeps columns that are used twice from being computed twice.
create or replace function user_threads(p_user uuid) returns table (
    thread_id uuid, rank timestamptz, head bigint, head_at timestamptz, read_seq bigint, own_seq bigint, unread bigint,
    labels text[])
language sql stable rows 100 as $$
    select o.thread_id, o.rank, o.head, o.head_at, o.read_seq, o.own_seq,
        case when o.is_bot or o.head > o.mark is not true then 0
            when o.own_seq < o.read_seq or o.hides then (select unread_count(m, o.own_seq, o.head) from members m
                where m.thread_id = o.thread_id and m.user_id = p_user)
            else o.head - o.mark - (select count(*) from messages x where x.thread_id = o.thread_id and x.seq > o.mark
                and (x.deleted_at is not null or (x.sender_id is null and x.counts is null))) end, o.labels
    from (
        select r.*, greatest(r.own_seq, r.hidden_before_seq - 1) as mark
        from (
            select k.*, case when k.back_from_seq = k.read_seq then coalesce(k.back_to_seq, k.read_seq) else k.read_seq end
                as own_seq
            from (
                select m.thread_id, m.is_bot, m.hides, m.hidden_before_seq, m.back_from_seq, m.back_to_seq, m.labels,
                    l.seq as head, l.created_at as head_at,
                    coalesce(l.created_at, case when m.status = 'invited' then m.invited_at end,
                        (select t.created_at from threads t where t.id = m.thread_id)) as rank,
                    case when l.sender_id = m.user_id or m.read_seq >= l.seq then l.seq
                        else greatest(m.read_seq, (select s.seq from messages s
                            where sender_key(s.sender_id, s.thread_id) = sender_key(m.user_id, m.thread_id)
                                and s.seq::int > m.read_seq::int and sender_is(s, m.user_id, m.thread_id)
                            order by s.seq::int desc limit 1)) end as read_seq
                from members m
                left join lateral (select x.seq, x.created_at, x.sender_id from messages x
                    where x.thread_id = m.thread_id
                        and x.seq >= case m.status when 'joined' then greatest(m.read_seq, m.delivered_seq) end
                    order by x.seq desc limit 1) l on true
                where m.user_id = p_user and m.status in ('joined', 'invited')
                offset 0) k
            offset 0) r
        offset 0) o
$$;
