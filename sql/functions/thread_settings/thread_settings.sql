-- A member's own settings of a thread: muted, archived, pinned, the messages that alert, the seq before which it is
-- cleared, the app's data.

-- Returns: the settings, with the counts that depend on them.
create or replace function settings_json(m members) returns json
language sql stable as $$
    select json_build_object('muted_until', rfc3339(m.muted_until), 'archived', m.archived, 'pinned', m.pinned,
        'notify', coalesce(m.notify, 'all'), 'hidden_before_seq', m.hidden_before_seq, 'custom', m.custom::json, 'labels', labels_json(m.labels),
        'unread_count', unread_count(m, r.own_seq, thread_head(m.thread_id)),
        'mention_count', mention_count(m, r.own_seq))
    from member_marks(m) r
$$;

-- Changes the members of `p_changes` (muted_until, archived, pinned, notify, hidden_before_seq, custom, labels), and
-- notifies the caller's own devices. Values that are set already change nothing.
-- Returns: the settings as JSON text.
-- Fails: PY404 thread_not_found; PY403 not_joined; PY422 (hidden_before_seq: past the next message).
-- Locks: the thread if `archived` changes, so that no message is being sent to it; the member's row, then the log
create or replace function settings_update(p_user uuid, p_thread uuid, p_changes json) returns text
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_changes jsonb := p_changes::jsonb;
    v_old members;
    v_new members;
    v_head bigint;
begin
    if v_changes ? 'archived' then
        perform from threads t where t.id = p_thread for no key update;
    end if;
    perform from members m where m.thread_id = p_thread and m.user_id = p_user for no key update;
    v_old := member_joined(p_thread, p_user);
    if (v_changes ->> 'hidden_before_seq')::bigint > thread_head(p_thread) + 1 then
        perform refuse(422, 'invalid', 'Must not be above the thread''s last seq.', 'hidden_before_seq');
    end if;
    v_new := v_old;
    if v_changes ? 'muted_until' then
        v_new.muted_until := date_trunc('milliseconds', (v_changes ->> 'muted_until')::timestamptz);
    end if;
    v_new.archived := coalesce((v_changes ->> 'archived')::boolean, v_old.archived);
    v_new.pinned := coalesce((v_changes ->> 'pinned')::boolean, v_old.pinned);
    v_new.notify := nullif(coalesce(v_changes ->> 'notify', v_old.notify), 'all');
    v_new.hidden_before_seq := coalesce((v_changes ->> 'hidden_before_seq')::bigint, v_old.hidden_before_seq);
    if v_changes ? 'custom' then
        v_new.custom := p_changes ->> 'custom';
    end if;
    if v_changes ? 'labels' then
        v_new.labels := labels_of(p_changes -> 'labels');
    end if;
    if v_new is distinct from v_old then
        update members m set muted_until = v_new.muted_until, archived = v_new.archived, pinned = v_new.pinned,
            notify = v_new.notify, hidden_before_seq = v_new.hidden_before_seq, custom = v_new.custom, labels = v_new.labels
        where m.thread_id = p_thread and m.user_id = p_user;
        if v_new.archived <> v_old.archived then
            update threads t set has_archived = a.has
            from (select nullif(thread_is_archived(p_thread), false)) a (has)
            where t.id = p_thread and t.has_archived is distinct from a.has;
        end if;
        v_head := log_begin() + 1;
        insert into events (pos, at, type, thread_id, user_id, seq, actor_id, body)
        values (v_head, v_now, 'settings.updated', p_thread, p_user, v_new.hidden_before_seq, p_user,
            event_json('settings.updated', p_thread, v_now, settings_json(v_new)::text));
        perform log_announce(v_head);
    end if;
    return settings_json(v_new)::text;
end $$;
