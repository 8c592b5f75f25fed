-- The log as integrations see it: each event once, and not once for each user.

-- Writes an event that clients do not get, for integrations alone. No user has the id that it is for. `p_data` is JSON
-- text.
-- Returns: the position written.
-- Locks: the caller holds the log
create or replace function change_log(
    p_head bigint, p_now timestamptz, p_type text, p_thread uuid, p_actor uuid, p_data text) returns bigint
language plpgsql volatile as $$
begin
    insert into events (pos, at, type, thread_id, user_id, actor_id, is_change, body)
    values (p_head + 1, p_now, p_type, p_thread, '00000000-0000-0000-0000-000000000000', p_actor, true,
        event_json(p_type, p_thread, p_now, p_data));
    return p_head + 1;
end $$;

-- Returns: the events after a position, oldest first, all from one snapshot, and a last row without an event.
--   pos, event_epoch   where the event was written; they never change
--   type, thread_id, at, actor_id
--   body, message_id and the columns after it   the event, as log_read returns it
-- Only the last row has:
--   state         ok | expired (the cursor is from a lost tail, or from before the trimmed part of the log)
--   last, epoch   where to continue; with `expired`: what misses nothing that the log still has
--   head          the last position in this snapshot; beyond `last` there may be nothing that integrations see
-- `p_types` is null for all types. At most `p_limit` events, at most `p_bytes` of them except for the first, and at
-- most `p_scan` positions are read.
-- Costs: a range scan of the log
create or replace function changes_read(
    p_epoch int, p_pos bigint, p_types text[], p_limit int, p_bytes int, p_scan int default 5000)
returns table (pos bigint, event_epoch int, type text, thread_id uuid, at timestamptz, actor_id uuid, body text,
    state text, last bigint, epoch int, head bigint, message_id uuid, seq bigint, sender_id uuid, name text, image text,
    message_type text, reply_to uuid, mentions uuid[], expires_at timestamptz)
language plpgsql stable
set enable_sort = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_place record;
    v_last bigint;
    v_bytes bigint := 0;
    v_count int := 0;
begin
    select * into v_place from log_place(p_epoch, p_pos);
    if v_place.state <> 'kept' then
        state := 'expired';
        last := change_resume(p_epoch, v_place.state, v_place.epoch_end, v_place.head);
        epoch := v_place.epoch;
        head := v_place.head;
        return next;
        return;
    end if;
    v_last := least(v_place.head, p_pos + p_scan);
    for pos, type, thread_id, at, actor_id, body, event_epoch, message_id, seq, sender_id, name, image, message_type,
        reply_to, mentions, expires_at in
        -- Clients know whose session it is. The event of an erased user has no data any more.
        select e.pos, e.type, e.thread_id, e.at, e.actor_id, case e.type when 'session.revoked' then event_json(e.type, null,
            e.at, json_build_object('session_id', e.session_id, 'user_id', e.user_id)::text) else e.body end,
            (select l.epoch from log_epochs l where l.first_pos <= e.pos order by l.epoch desc limit 1),
            e.message_id, e.seq, e.actor_id, e.name, e.image, e.message_type, e.reply_to, e.mentions, e.expires_at
        from events e
        where e.pos > p_pos and e.pos <= v_last and coalesce(e.is_change, e.user_id is null)
            and (p_types is null or e.type = any (p_types))
        order by e.pos limit p_limit + 1
    loop
        v_bytes := v_bytes + event_bytes(body, message_id);
        if v_count = p_limit or (v_count > 0 and v_bytes > p_bytes) then
            -- The positions before this event have nothing else.
            v_last := pos - 1;
            exit;
        end if;
        v_count := v_count + 1;
        return next;
    end loop;
    return query select null::bigint, null::int, null, null::uuid, null::timestamptz, null::uuid, null, 'ok',
        v_last, v_place.epoch, v_place.head, null::uuid, null::bigint, null::uuid, null, null, null, null::uuid, null::uuid[],
        null::timestamptz;
end $$;

-- Returns: the position from which a reader with an expired cursor misses nothing that the log still has: the end of
-- what it shares with the log, or the position before the oldest kept. `p_epoch` is the cursor's, the others are from log_place.
create or replace function change_resume(p_epoch int, p_state text, p_epoch_end bigint, p_head bigint) returns bigint
language plpgsql stable as $$
begin
    return greatest(
        coalesce((select t.end_pos - 1 from log_trims t order by t.end_pos desc limit 1), 0),
        case when p_state = 'lost' and exists (select from log_epochs l where l.epoch = p_epoch)
            then least(p_epoch_end - 1, p_head) end);
end $$;

-- Returns: from where a reader gets all kept events of an instant or later. Events of one moment are not in the order
-- of their times, so the look-up begins 2 s earlier.
-- Costs: some forty index probes, and the events of 2 s
create or replace function change_since(p_at timestamptz) returns table (epoch int, pos bigint)
language plpgsql stable as $$
declare
    v_at bigint := log_pos_at(p_at);
begin
    epoch := log_epoch();
    pos := coalesce((select e.pos from events e
        where e.pos >= log_pos_at(p_at - interval '2 s') and e.pos < v_at and e.at >= p_at order by e.pos limit 1), v_at) - 1;
    return next;
end $$;
