-- Joins the room of that title, making it if there is none: whether it was made, and the room as the caller sees it.
-- A room is made with `p_room_key`. Rooms from before 2026-12 were made with what is `p_former_key` now, and are found by
-- that first: of two rooms that have become alike, each stays with its own title.
-- `p_keep_s` is for one that is made, as threads.keep_s.
-- The last arguments are those of thread_create.
-- Fails: PY404 thread_not_found (removed from it), PY422 (full), PY422 too_many_threads, PY429 rate_limited.
drop function if exists room_join(uuid, uuid, text, text, int);
drop function if exists room_join(uuid, uuid, text, text, int, int);
create or replace function room_join(
    p_thread uuid, p_user uuid, p_title text, p_room_key text, p_former_key text, p_room_max int,
    p_keep_s int default null, p_threads_max int default null, p_keys bytea[] default null,
    p_steps_ms int[] default null, p_windows_ms int[] default null)
returns table (created boolean, thread text)
language plpgsql volatile as $$
declare
    v_room uuid;
begin
    -- Twice at most: whoever loses the race to make it finds it made.
    for v_try in 1 .. 2 loop
        select t.id into v_room from threads t where t.room_key in (p_former_key, p_room_key)
            order by t.room_key <> p_former_key limit 1;
        if found then
            perform member_put(p_user, v_room, p_user, null, 'joined', 0, p_room_max, p_threads_max);
            return query select false, thread_get(p_user, v_room);
            return;
        end if;
        return query select c.created, c.thread
            from thread_create(p_thread, 'room', p_title, p_room_key, p_user, '{}', false, p_keep_s, p_threads_max, false,
                p_keys, p_steps_ms, p_windows_ms) c;
        if found then
            return;
        end if;
    end loop;
end $$;
