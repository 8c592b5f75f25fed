-- Threads, members and messages of the host app's server. These call the functions of users' calls, with null in place
-- of the acting user, and record each change.

-- Returns: a page of all threads, the newest first; only those of a member (joined or invited), of a kind, with all of the
-- labels, and with an external id. Null for any.
-- Costs: with a member an index probe for each of their threads; with labels a look at each thread that has them
create or replace function admin_thread_list(
    p_user uuid, p_kind text, p_external_id text, p_labels text[], p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
begin
    if p_external_id is not null then
        return query
        select admin_thread_get(t.id), 0::bigint, t.id from threads t
        where t.external_id = p_external_id and (p_kind is null or t.kind = p_kind)
            and (p_labels is null or t.labels @> p_labels)
            and (p_user is null or (member_of(t.id, p_user)).status is not null)
            and (p_after_id is null or t.id < p_after_id);
    elsif p_user is not null then
        return query
        select admin_thread_get(t.id), 0::bigint, t.id
        from members m join threads t on t.id = m.thread_id
        where m.user_id = p_user and m.status in ('joined', 'invited') and (p_kind is null or t.kind = p_kind)
            and (p_labels is null or t.labels @> p_labels)
            and (p_after_id is null or m.thread_id < p_after_id)
        order by t.id desc limit p_limit;
    elsif p_labels is not null then
        return query
        with labelled as materialized (select l.* from threads l where l.labels @> p_labels)
        select admin_thread_get(t.id), 0::bigint, t.id from labelled t
        where (p_kind is null or t.kind = p_kind) and (p_after_id is null or t.id < p_after_id)
        order by t.id desc limit p_limit;
    else
        return query
        select admin_thread_get(t.id), 0::bigint, t.id from threads t
        where (p_kind is null or t.kind = p_kind) and (p_after_id is null or t.id < p_after_id)
        order by t.id desc limit p_limit;
    end if;
end $$;

-- Creates a thread whose members are `p_members`, with `p_roles` in their order. Returns an existing thread with the
-- external id, or of the two people of a direct thread, which gets the external id; it is not changed otherwise.
-- Returns: whether the thread was created, its id, and the thread.
-- Fails: PY409 thread_kind_differs, title_taken (of a room), external_id_taken; as thread_create.
-- Locks: as thread_create; for an existing thread the thread, then the log
create or replace function admin_thread_create(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_kind text, p_title text, p_room_key text,
    p_members uuid[], p_roles text[], p_image text, p_keep_s int, p_external_id text, p_threads_max int, p_custom text,
    p_labels text[]
) returns table (created boolean, id uuid, thread text)
language plpgsql volatile as $$
declare
    v_old threads;
    v_new threads;
begin
    -- What exists is found without a look at limits, also by a repeated call.
    select * into v_old from threads t where t.external_id = p_external_id;
    if not found then
        select true, p_thread, c.thread into created, id, thread
        from thread_create(p_thread, p_kind, p_title, p_room_key, null, p_members, false, p_keep_s, p_threads_max,
            p_custom => p_custom, p_labels => p_labels, p_roles => p_roles, p_image => p_image,
            p_external_id => p_external_id) c;
        if found then
            perform audit_note(p_actor, p_request, p_admin_key, 'thread.create', null, p_thread);
            return next;
            return;
        end if;
        select * into v_old from threads t where t.external_id = p_external_id
            or (t.direct_low = least(p_members[1], p_members[2]) and t.direct_high = greatest(p_members[1], p_members[2])
                and p_kind = 'direct')
            or t.room_key = p_room_key
        order by (t.external_id = p_external_id) is true desc limit 1;
    end if;
    if v_old.kind <> p_kind then
        perform refuse(409, 'thread_kind_differs', format('The thread with this external id is a %s.', v_old.kind));
    elsif p_external_id is not null and v_old.external_id is distinct from p_external_id then
        if v_old.kind = 'room' then
            perform refuse(409, 'title_taken', 'Another room has this title. Choose another title.');
        end if;
        v_old := thread_lock(v_old.id);
        if v_old.external_id <> p_external_id then
            perform refuse(409, 'external_id_taken', 'The direct thread of these two people has another external id.');
        end if;
        begin
            update threads t set external_id = p_external_id where t.id = v_old.id returning t.* into v_new;
        exception when unique_violation then
            perform refuse(409, 'external_id_taken', 'Another thread has this external id.');
        end;
        perform audit_note(p_actor, p_request, p_admin_key, 'thread.update', null, v_old.id);
        perform thread_update_log(v_old, v_new, stamp(), null);
    elsif p_external_id is null and v_old.kind = 'room' then
        perform refuse(409, 'title_taken', 'Another room has this title. Choose another title.');
    end if;
    return query select false, v_old.id, admin_thread_get(v_old.id);
end $$;

-- Changes a thread, as thread_update.
create or replace function admin_thread_update(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_changes json, p_room_key text) returns text
language plpgsql volatile as $$
declare
    v_old threads := thread_lock(p_thread);
    v_thread text := thread_update(null, p_thread, p_changes, p_room_key);
begin
    if v_old::text <> (select t::text from threads t where t.id = p_thread) then
        perform audit_note(p_actor, p_request, p_admin_key, 'thread.update', null, p_thread);
    end if;
    return v_thread;
end $$;

-- Deletes a thread for everyone, as thread_delete.
create or replace function admin_thread_delete(p_actor text, p_request text, p_admin_key uuid, p_thread uuid) returns void
language plpgsql volatile as $$
begin
    perform audit_note(p_actor, p_request, p_admin_key, 'thread.delete', null, p_thread);
    perform thread_delete(p_thread);
end $$;

-- Returns: those of the people who are no members of the thread, or have another role than the one given for them.
-- Fails: PY422 (members: somebody is not a user).
create or replace function admin_thread_lacks(p_thread uuid, p_users uuid[], p_roles text[]) returns uuid[]
language plpgsql stable as $$
declare
    v_unknown uuid;
begin
    select n.id into v_unknown from unnest(p_users) n (id)
    where not exists (select from users u where u.id = n.id and u.erased_at is null) limit 1;
    if found then
        perform refuse(422, 'invalid', format('There is no user %s.', v_unknown), 'members');
    end if;
    return array(select n.id from unnest(p_users, p_roles) n (id, role)
        where (select m.status in ('joined', 'invited') and m.role = coalesce(n.role, m.role) from members m
            where m.thread_id = p_thread and m.user_id = n.id) is not true);
end $$;

-- Adds, invites or promotes somebody, as member_put.
create or replace function admin_member_put(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_user uuid, p_role text, p_status text,
    p_group_max int, p_room_max int, p_threads_max int) returns text
language plpgsql volatile as $$
declare
    v_old members;
    v_new members;
    v_member text;
begin
    perform thread_lock(p_thread);
    select * into v_old from members m where m.thread_id = p_thread and m.user_id = p_user;
    v_member := member_put(null, p_thread, p_user, p_role, p_status, p_group_max, p_room_max, p_threads_max);
    select * into v_new from members m where m.thread_id = p_thread and m.user_id = p_user;
    if (v_old.role, v_old.status) is distinct from (v_new.role, v_new.status) then
        perform audit_note(p_actor, p_request, p_admin_key, 'member.put', p_user, p_thread);
    end if;
    return v_member;
end $$;

-- Removes somebody, as member_delete.
create or replace function admin_member_delete(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_user uuid) returns void
language plpgsql volatile as $$
begin
    perform audit_note(p_actor, p_request, p_admin_key, 'member.delete', p_user, p_thread);
    perform member_delete(null, p_thread, p_user);
end $$;

-- Sends a message as a user, as message_append does; without a sender as admin_notice_send.
-- Returns: its outcome, and the message with created and exists.
-- Fails: PY422 (sender: unknown, erased or suspended); PY403 not_a_member.
-- Locks: as message_append
create or replace function admin_message_send(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_message uuid, p_sender uuid, p_type text,
    p_payload json, p_reply_to uuid, p_mentions text, p_expires_s int, p_attachments text, p_is_silent boolean
) returns table (outcome text, message text)
language plpgsql volatile as $$
declare
    v_sent record;
begin
    perform thread_lock(p_thread);
    if p_sender is null then
        return query select n.* from admin_notice_send(p_actor, p_request, p_admin_key, p_thread, p_message, p_payload,
            p_reply_to, p_mentions, p_expires_s, p_is_silent) n;
        return;
    end if;
    if not exists (select from users u where u.id = p_sender and u.erased_at is null and u.suspended_at is null) then
        perform refuse(422, 'invalid', 'There is no such user, or the account is suspended.', 'sender');
    elsif (member_of(p_thread, p_sender)).status is distinct from 'joined'
        and not message_was_sent(p_thread, p_sender, p_message) then
        perform refuse(403, 'not_a_member', 'The sender has not joined this thread. Add the sender first.');
    end if;
    select a.* into v_sent from message_append(
        array[p_message], array[p_thread], array[p_sender], array[p_type], array[p_payload], array[p_reply_to],
        case when p_mentions is not null then array[p_mentions] end, p_expires_s =>
            case when p_expires_s is not null then array[p_expires_s] end,
        p_attachments => case when p_attachments is not null then array[p_attachments] end,
        p_is_silent => p_is_silent) a;
    outcome := v_sent.outcome;
    message := v_sent.message;
    if outcome = 'created' then
        perform audit_note(p_actor, p_request, p_admin_key, 'message.send', p_sender, p_thread, p_message);
        message := message_view(message_find(p_thread, p_message));
    end if;
    return next;
end $$;

-- Sends a message of the host app's server: of type `system`, without a sender, with the app's own payload. It counts as
-- unread and alerts as a person's message does.
-- Returns: the outcome, as message_append, and the message with created and exists.
-- Locks: the caller holds the thread; then the log
create or replace function admin_notice_send(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_message uuid, p_payload json, p_reply_to uuid,
    p_mentions text, p_expires_s int, p_is_silent boolean
) returns table (outcome text, message text)
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_old messages := message_find(p_thread, p_message);
    v_new messages;
    v_last messages;
    v_mentions uuid[] := coalesce(p_mentions, '{}')::uuid[];
    v_kept record;
    -- Members who have archived the thread.
    v_archived record;
begin
    if v_old.seq is not null then
        outcome := case when v_old.sender_id is null and v_old.counts and (v_old.payload is null or (v_old.mentions = v_mentions
                and v_old.reply_to is not distinct from p_reply_to and (v_old.edited_at is not null or v_old.payload::text = p_payload::text)))
            then 'exists' else 'conflict' end;
        message := case when outcome = 'exists' then message_view(v_old) end;
        return next;
        return;
    end if;
    outcome := case when p_reply_to is not null and (message_find(p_thread, p_reply_to)).seq is null then 'no_reply'
        when v_mentions <> '{}' and not message_may_mention(p_thread, v_mentions) then 'no_mention' else 'created' end;
    if outcome = 'created' then
        select k.keep_s[1] as keep_s, k.until_delivered[1] as until_delivered into v_kept
        from retention_of(array[p_thread], array[p_expires_s]) k;
        perform audit_note(p_actor, p_request, p_admin_key, 'message.send', null, p_thread, p_message);
        select * into v_last from messages m where m.thread_id = p_thread order by m.seq desc limit 1;
        v_now := greatest(v_now, v_last.created_at);
        select k.threads, k.users into v_archived
        from unarchive_lock(case when not p_is_silent then array[p_thread] end, array[p_mentions], v_now) k;
        insert into messages as m (thread_id, seq, id, type, payload, reply_to, mentions, created_at, expires_at, pos,
            until_delivered, counts)
        values (p_thread, coalesce(v_last.seq, 0) + 1, p_message, 'system', p_payload, p_reply_to, v_mentions, v_now,
            v_now + v_kept.keep_s * interval '1 second', log_begin() + 1, v_kept.until_delivered, true)
        returning m.* into v_new;
        perform message_log(v_new);
        update events e set is_silent = p_is_silent where e.pos = v_new.pos;
        perform retention_note(array[p_thread], array[p_message], array[null::uuid]);
        perform log_announce(v_new.pos);
        perform unarchive(v_archived.threads, v_archived.users, array[p_thread], array[p_message], array[null::uuid],
            array[p_mentions], v_now);
        message := message_view(v_new);
    end if;
    return next;
end $$;

-- Changes a message's payload, as message_edit.
create or replace function admin_message_edit(
    p_actor text, p_request text, p_admin_key uuid, p_thread uuid, p_message uuid, p_payload json, p_attachments uuid[]
) returns text
language plpgsql volatile as $$
declare
    v_old messages := message_find(p_thread, p_message);
    v_message text := message_edit(null, p_thread, p_message, p_payload, p_attachments);
begin
    if v_old::text is distinct from message_find(p_thread, p_message)::text then
        perform audit_note(p_actor, p_request, p_admin_key, 'message.update', v_old.sender_id, p_thread, p_message);
    end if;
    return v_message;
end $$;
