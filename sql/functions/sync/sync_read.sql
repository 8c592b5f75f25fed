-- Sync: reading the log for one user.

-- Returns: what a user may see of the log after a position, oldest first, for a poll that no mailbox can answer: at most
-- `p_limit` events, and at most `p_bytes` of them except for the first, and a last row without an event. All from one
-- snapshot.
--   pos, type, thread_id, at, body, message_id and the columns after it   an event, as log_read returns it
-- Only the last row has:
--   state         ok | expired (the cursor is from a lost tail, or from before the trimmed part of the log)
--   head, epoch   the last position in this snapshot, and its epoch
--   more          there is more up to `head`
--   threads       unless `more`: the threads of which the user is a member at `head`
-- A user may see an event by their membership at its position.
-- Costs: as sync_positions, and a look-up for each event of the page
create or replace function sync_read(p_user uuid, p_epoch int, p_pos bigint, p_limit int, p_bytes int)
returns table (pos bigint, type text, thread_id uuid, at timestamptz, body text, message_id uuid, seq bigint, sender_id uuid,
    name text, image text, message_type text, reply_to uuid, mentions uuid[], expires_at timestamptz,
    state text, head bigint, epoch int, more boolean, threads uuid[])
language plpgsql stable as $$
declare
    v_place record;
    v_bytes bigint := 0;
    v_count int := 0;
begin
    select * into v_place from log_place(p_epoch, p_pos);
    more := false;
    if v_place.state = 'kept' then
        for pos, type, thread_id, at, body, message_id, seq, sender_id, name, image, message_type, reply_to, mentions,
            expires_at in
            select x.pos, x.type, x.thread_id, x.at, x.body, x.message_id, x.seq, x.actor_id, x.name, x.image, x.message_type,
                x.reply_to, x.mentions, x.expires_at
            from unnest(sync_positions(p_user, p_pos, v_place.head, p_limit + 1)) with ordinality g (pos, place)
            cross join lateral (select e.* from events e where e.pos = g.pos limit 1) x
            order by g.place
        loop
            v_bytes := v_bytes + event_bytes(body, message_id);
            more := v_count = p_limit or (v_count > 0 and v_bytes > p_bytes);
            exit when more;
            v_count := v_count + 1;
            return next;
        end loop;
    end if;
    return query
    select null::bigint, null, null::uuid, null::timestamptz, null, null::uuid, null::bigint, null::uuid, null, null, null,
        null::uuid, null::uuid[], null::timestamptz, case v_place.state when 'kept' then 'ok' else 'expired' end,
        v_place.head, v_place.epoch, more, case when not more then array(
            select s.thread_id from membership_spans s where s.user_id = p_user and s.to_pos is null) end;
end $$;

-- Returns: the positions of the first `p_count` events that the user may see after `p_after`, up to `p_head`, in
-- order.
-- Costs: an index probe for each membership. Where the user's events are close together, or near the log's head, it
-- reads only as many of the next events as there are memberships, which costs less. It never reads more of other
-- people's events than that
create or replace function sync_positions(p_user uuid, p_after bigint, p_head bigint, p_count int) returns bigint[]
language plpgsql stable as $$
declare
    v_spans int := (select count(*) from membership_spans s where s.user_id = p_user and (s.to_pos is null or s.to_pos > p_after));
    v_end bigint := least(p_head, p_after + v_spans);
    v_found bigint[];
    v_rest int;
begin
    v_found := array(
        select x.pos
        from (select e.pos, e.thread_id, e.user_id from events e where e.pos > p_after and e.pos <= v_end order by e.pos) x
        where case when x.user_id is null then exists (select from membership_spans s
                where s.user_id = p_user and s.thread_id = x.thread_id and s.from_pos <= x.pos
                    and (s.to_pos is null or s.to_pos >= x.pos))
            else x.user_id = p_user end
        order by x.pos limit p_count);
    v_rest := p_count - cardinality(v_found);
    if v_rest = 0 or v_end = p_head then
        return v_found;
    end if;
    return v_found || array(
        select a.pos
        from (
            -- The first events of all are in the memberships whose own first event comes first.
            select t.pos
            from (
                select s.thread_id, s.from_pos, s.to_pos
                from membership_spans s
                cross join lateral (
                    select e.pos from events e
                    where uuid_hash(e.thread_id) = uuid_hash(s.thread_id) and e.thread_id = s.thread_id
                        and e.user_id is null and e.pos > v_end
                        and e.pos >= s.from_pos and e.pos <= coalesce(s.to_pos, p_head)
                    order by e.pos limit 1) f
                where s.user_id = p_user and (s.to_pos is null or s.to_pos > v_end)
                order by f.pos limit v_rest) s
            cross join lateral (
                select e.pos from events e
                where uuid_hash(e.thread_id) = uuid_hash(s.thread_id) and e.thread_id = s.thread_id
                        and e.user_id is null and e.pos > v_end
                    and e.pos >= s.from_pos and e.pos <= coalesce(s.to_pos, p_head)
                order by e.pos limit v_rest) t
            union all
            (select e.pos from events e where e.user_id = p_user and e.pos > v_end and e.pos <= p_head
            order by e.pos limit v_rest)
        ) a
        order by a.pos limit v_rest);
end $$;

-- Returns: the log's present point, from which a new client starts.
create or replace function sync_start() returns table (head bigint, epoch int)
language sql stable as $$
    select log_head(), log_epoch()
$$;

-- Returns: for a client whose cursor has expired, where to continue, and as JSON text [{id, head}] the threads that it
-- must load again, all from one snapshot. After a lost tail these are all of the user's threads. When the cursor is
-- older than the log keeps, they are the threads with an event after it, trimmed or not. In both cases also threads
-- that the user has left since. `head` is 0 where the user reads nothing now.
-- Costs: an index probe for each of the user's threads
create or replace function sync_restart(p_user uuid, p_epoch int default null, p_pos bigint default null)
returns table (head bigint, epoch int, threads text)
language plpgsql stable as $$
declare
    v_place record;
    v_is_lost boolean;
    -- What the client has up to here is still valid.
    v_since bigint;
    -- Threads with events for this user alone.
    v_own uuid[];
begin
    select * into v_place from log_place(p_epoch, p_pos);
    head := v_place.head;
    epoch := v_place.epoch;
    v_is_lost := v_place.state = 'lost';
    v_since := case
        when exists (select from log_epochs l where l.epoch = p_epoch) then least(p_pos, v_place.epoch_end - 1, head)
        else 0 end;
    v_own := array(select e.thread_id from events e where e.user_id = p_user and e.pos > v_since);

    select coalesce(json_agg(json_build_object('id', t.thread_id,
        'head', case t.status when 'joined' then thread_head(t.thread_id) else 0 end)), '[]')::text
    into threads
    from (
        select m.thread_id, m.status,
            v_is_lost or m.thread_id = any (v_own)
            or (select e.pos from events e where uuid_hash(e.thread_id) = uuid_hash(m.thread_id) and e.thread_id = m.thread_id
                and e.user_id is null and e.pos > v_since order by e.pos limit 1) is not null
            or (select k.pos from thread_trims k where k.thread_id = m.thread_id) > v_since as has_changed,
            (select max(s.to_pos) from membership_spans s where s.user_id = p_user and s.thread_id = m.thread_id) as left_at
        from members m where m.user_id = p_user
    ) t
    where case
        when t.status in ('joined', 'invited') then t.has_changed
        -- Left or removed threads are returned once. A person who was only invited has no span, and counts like members.
        else coalesce(t.left_at > v_since, t.has_changed) end;
    return next;
end $$;
