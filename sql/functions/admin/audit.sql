-- The record of what administrators did.

-- Records an action and its subject. `p_subject` names a subject that is neither a user nor in a thread. Actions that
-- changed nothing are not recorded.
create or replace function audit_note(
    p_actor text, p_request text, p_admin_key uuid, p_action text, p_user uuid default null, p_thread uuid default null,
    p_message uuid default null, p_subject text default null
) returns void
language sql volatile as $$
    insert into audit (id, at, actor, action, user_id, thread_id, message_id, subject, request_id, key_id)
    values (uuid_v7(clock_timestamp()), stamp(), p_actor, p_action, p_user, p_thread, p_message, p_subject, p_request,
        p_admin_key)
$$;

-- Returns: a page of the record, the latest first.
create or replace function audit_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select json_build_object('id', a.id, 'at', rfc3339(a.at), 'actor', a.actor, 'action', a.action, 'user_id', a.user_id,
        'thread_id', a.thread_id, 'message_id', a.message_id, 'subject', a.subject, 'request_id', a.request_id,
        'key_id', a.key_id)::text,
        0::bigint, a.id
    from audit a where p_after_id is null or a.id < p_after_id order by a.id desc limit p_limit
$$;
