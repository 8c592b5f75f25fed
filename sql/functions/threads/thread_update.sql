-- Changing threads.

-- Changes the members of `p_changes` (title, topic, image, keep_s, custom, labels). Publishes thread.updated to members and invited people,
-- and for a new title a system message. A new retention holds for messages sent afterwards. `p_room_key` is the new
-- title's key; only rooms have one. Values that are set already change nothing.
-- `p_user` is null for the host app's server, whose new titles have no system message.
-- Returns: the thread as the caller sees it.
-- Fails: PY404 thread_not_found; PY403 not_joined, not_allowed, not_reachable; PY409 title_taken (of a room); PY422
-- (title, topic, image: a direct thread has none of its own; a room needs a title), or as attachment_use_picture.
-- Locks: the thread, the attachments by id, the announcement, then the log
create or replace function thread_update(p_user uuid, p_thread uuid, p_changes json, p_room_key text) returns text
language plpgsql volatile as $$
declare
    v_old threads := thread_lock_joined(p_thread, p_user);
    v_new threads := v_old;
    v_now timestamptz := stamp();
    v_member members := member_joined(p_thread, p_user);
    v_changes jsonb := p_changes::jsonb;
begin
    perform thread_update_check(v_old, v_member, v_changes);
    if v_changes ? 'title' then
        v_new.title := v_changes ->> 'title';
        v_new.room_key := case v_old.kind when 'room' then p_room_key end;
    end if;
    if v_changes ? 'topic' then
        v_new.topic := v_changes ->> 'topic';
    end if;
    if v_changes ? 'image' then
        v_new.image := v_changes ->> 'image';
        perform attachment_use_picture('thread', p_thread, p_user, v_old.image, v_new.image, 'image');
    end if;
    if v_changes ? 'keep_s' then
        v_new.keep_s := v_changes ->> 'keep_s';
    end if;
    if v_changes ? 'custom' then
        v_new.custom := p_changes ->> 'custom';
    end if;
    if v_changes ? 'labels' then
        v_new.labels := labels_of(p_changes -> 'labels');
    end if;
    if (v_new.title, v_new.topic, v_new.image, v_new.keep_s, v_new.custom, v_new.labels)
        is distinct from (v_old.title, v_old.topic, v_old.image, v_old.keep_s, v_old.custom, v_old.labels) then
        begin
            update threads t set title = v_new.title, topic = v_new.topic, image = v_new.image, room_key = v_new.room_key,
                keep_s = v_new.keep_s, custom = v_new.custom, labels = v_new.labels
            where t.id = p_thread;
        exception when unique_violation then
            perform refuse(409, 'title_taken', 'Another room has this title. Choose another title.');
        end;
        perform thread_update_log(v_old, v_new, v_now, p_user);
    end if;
    return case when p_user is null then admin_thread_get(p_thread) else thread_view(v_new, v_member)::text end;
end $$;

-- Fails: unless the member may make these changes.
create or replace function thread_update_check(t threads, m members, p_changes jsonb) returns void
language plpgsql stable as $$
begin
    if t.kind = 'direct' then
        if p_changes ?| array['title', 'topic', 'image'] then
            perform refuse(422, 'invalid',
                'A direct thread has no title, topic or image. Clients show the other member''s name and image.',
                case when p_changes ? 'title' then 'title' when p_changes ? 'topic' then 'topic' else 'image' end);
        elsif m.blocked then
            perform block_refuse();
        end if;
    elsif m.role = 'member' then
        perform refuse(403, 'not_allowed', 'Only owners and admins may do this.');
    elsif t.kind = 'room' and p_changes ? 'title' and p_changes ->> 'title' is null then
        perform refuse(422, 'invalid', 'A room needs a title.', 'title');
    end if;
end $$;

-- Publishes the thread's new state: one event for all members, and an event of their own for each invited person. The
-- first invited people get theirs at once, the others by announcement_continue.
-- Locks: the announcement, then the log
create or replace function thread_update_log(p_old threads, p_new threads, p_now timestamptz, p_by uuid) returns void
language plpgsql volatile as $$
declare
    v_has_invited boolean := exists (select from members m where m.thread_id = p_new.id and m.status = 'invited');
    v_head bigint;
begin
    if v_has_invited then
        perform announcement_begin('thread', p_new.id);
    end if;
    v_head := log_begin() + 1;
    insert into events (pos, at, type, thread_id, actor_id, body)
    values (v_head, p_now, 'thread.updated', p_new.id, p_by,
        event_json('thread.updated', p_new.id, p_now, thread_json(p_new)::text));
    if v_has_invited then
        v_head := announcement_write('thread', p_new.id, null, v_head, p_now, announcement_limit());
    end if;
    if p_new.title is distinct from p_old.title and p_by is not null then
        v_head := system_message(v_head, p_now, p_new.id, json_build_object('action', 'renamed', 'by', person_json(p_by),
            'title', p_new.title, 'old_title', p_old.title));
    end if;
    perform log_announce(v_head);
end $$;
