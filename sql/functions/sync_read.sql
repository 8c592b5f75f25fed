-- What a user may see of the log after a position, oldest first: read from the database when no mailbox has it.
-- One row, all from one snapshot:
--   state      ok | expired (the cursor is from a lost tail, or older than the log keeps)
--   head, epoch   the last position in this snapshot, and the epoch it belongs to
--   positions, bodies   the events, at most `p_limit` and (but for the first) `p_bytes` of them
--   more       there is more up to `head`
--   threads    unless `more`: the threads of which the user is a member at `head`
-- Who may see an event is decided by the membership at its position. Costs an index probe a membership, and a range
-- scan of the threads that changed; never a walk past other people's events.
-- locks: nothing
create or replace function sync_read(p_user uuid, p_epoch int, p_pos bigint, p_limit int, p_bytes int)
returns table (state text, head bigint, epoch int, positions bigint[], bodies text[], more boolean, threads uuid[])
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
    head := log_head();
    epoch := log_epoch();
    if p_pos > head
        or p_pos >= (select min(l.first_pos) from log_epochs l where l.epoch > p_epoch)
        or not exists (select from log_epochs l where l.epoch = p_epoch)
        or p_pos < (select e.pos - 1 from events e order by e.pos limit 1) then
        state := 'expired';
        return next;
        return;
    end if;
    state := 'ok';
    select array_agg(f.pos order by f.pos) filter (where f.fits), array_agg(f.body order by f.pos) filter (where f.fits),
        count(*) filter (where not f.fits) > 0
    into positions, bodies, more
    from (
        select c.pos, c.body, c.place <= p_limit and (c.place = 1 or c.bytes <= p_bytes) as fits
        from (
            select a.pos, a.body, row_number() over w as place, sum(octet_length(a.body)) over w as bytes
            from (
                select t.pos, t.body
                from membership_spans s
                cross join lateral (
                    select e.pos, e.body from events e
                    where e.thread_id = s.thread_id and e.user_id is null and e.pos > p_pos
                        and e.pos >= s.from_pos and e.pos <= coalesce(s.to_pos, head)
                    order by e.pos limit p_limit + 1) t
                where s.user_id = p_user and (s.to_pos is null or s.to_pos > p_pos)
                union all
                (select e.pos, e.body from events e where e.user_id = p_user and e.pos > p_pos order by e.pos limit p_limit + 1)
            ) a
            window w as (order by a.pos)
        ) c
    ) f;
    if not more then
        select array_agg(s.thread_id) into threads from membership_spans s where s.user_id = p_user and s.to_pos is null;
    end if;
    return next;
end $$;

-- The point of the log that is now: what a client starts from.
create or replace function sync_start() returns table (head bigint, epoch int)
language sql stable as $$
    select log_head(), log_epoch()
$$;

-- For a client whose cursor is no good any more: where to go on from, and the threads with their heads, as JSON text.
create or replace function sync_restart(p_user uuid) returns table (head bigint, epoch int, threads text)
language sql stable as $$
    select log_head(), log_epoch(), coalesce((
        select json_agg(json_build_object('id', m.thread_id, 'head', thread_head(m.thread_id)))::text
        from members m where m.user_id = p_user and m.status = 'joined'), '[]')
$$;
