-- Public rooms.

-- Joins the room whose title has this key; creates the room if there is none. `p_keep_s`, `p_custom` and
-- `p_labels` are for a new room, as in threads. The last arguments are those of thread_create.
-- Returns: whether the room was made, and the room as the caller sees it.
-- Fails: PY404 thread_not_found (the caller was removed from it), PY422 (full), PY422 too_many_threads, PY429
-- rate_limited.
create or replace function room_join(
    p_thread uuid, p_user uuid, p_title text, p_room_key text, p_room_max int, p_keep_s int default null,
    p_threads_max int default null, p_custom text default null, p_labels text[] default null,
    p_keys bytea[] default null, p_steps_ms int[] default null, p_windows_ms int[] default null)
returns table (created boolean, thread text)
language plpgsql volatile as $$
declare
    v_room uuid;
begin
    -- Two rounds are enough: a caller who loses the race to create the room finds it.
    for v_try in 1 .. 2 loop
        select t.id into v_room from threads t where t.room_key = p_room_key;
        if found then
            perform member_put(p_user, v_room, p_user, null, 'joined', 0, p_room_max, p_threads_max);
            return query select false, thread_get(p_user, v_room);
            return;
        end if;
        return query select c.created, c.thread
            from thread_create(p_thread, 'room', p_title, p_room_key, p_user, '{}', false, p_keep_s, p_threads_max, false,
                p_custom, p_labels, p_keys, p_steps_ms, p_windows_ms) c;
        if found then
            return;
        end if;
    end loop;
end $$;

-- Returns: a page of the public rooms whose key begins with `p_prefix`, the key of the beginning of a title, the ones
-- with most members first. With `p_labels` those that have all of these labels.
create or replace function room_list(
    p_prefix text, p_limit int, p_after_rank bigint, p_after_id uuid, p_labels text[] default null)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
begin
    -- Two queries, so that each has its own index.
    if p_labels is null then
        return query
        select thread_json(t)::text, -t.member_count::bigint, t.id
        from threads t
        where t.kind = 'room'
            and t.room_key >= p_prefix collate "C" and t.room_key < (p_prefix || U&'\+10FFFF') collate "C"
            and (p_after_rank is null or (-t.member_count, t.id) > (p_after_rank, p_after_id))
        order by -t.member_count, t.id
        limit p_limit;
    else
        return query
        with labelled as materialized (select l.* from threads l where l.kind = 'room' and l.labels @> p_labels)
        select thread_json(t::threads)::text, -t.member_count::bigint, t.id
        from labelled t
        where t.room_key >= p_prefix collate "C" and t.room_key < (p_prefix || U&'\+10FFFF') collate "C"
            and (p_after_rank is null or (-t.member_count, t.id) > (p_after_rank, p_after_id))
        order by -t.member_count, t.id
        limit p_limit;
    end if;
end $$;
