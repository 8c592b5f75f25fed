-- Sending a message with an `Idempotency-Key`. Rare, so it has a call of its own beside the batches.

-- Appends one message and keeps the answer under the key, or finds the kept one. The arguments after the first three are
-- those of one item of message_append.
-- Returns: the status of the answer and the message as JSON text, and whether the answer was kept before. Without a
-- status the message was refused, nothing is kept, and `outcome` is that of message_append.
-- Fails: as idempotency_claim.
-- Locks: the key, then as message_append
create or replace function message_append_once(
    p_caller uuid, p_key text, p_request bytea, p_id uuid, p_thread uuid, p_sender uuid, p_type text, p_payload json,
    p_reply_to uuid, p_mentions text, p_expires_s int, p_attachments text
) returns table (status int, message text, is_repeat boolean, outcome text)
language plpgsql volatile as $$
begin
    select c.status, c.body, c.status is not null into status, message, is_repeat
    from idempotency_claim(p_caller, p_key, p_request) c;
    if status is null then
        select a.outcome into outcome
        from message_append(array[p_id], array[p_thread], array[p_sender], array[p_type], array[p_payload], array[p_reply_to],
            case when p_mentions is not null then array[p_mentions] end, p_expires_s => case when p_expires_s is not null
            then array[p_expires_s] end, p_attachments => case when p_attachments is not null then array[p_attachments] end) a;
        status := idempotency_keep_message(p_caller, p_key, outcome, p_thread, p_id);
        message := case when status is not null then message_view(message_find(p_thread, p_id)) end;
    end if;
    return next;
end $$;

-- Sends a message as admin_message_send does and keeps the answer under the key, or finds the kept one. The arguments
-- after the first three are those of admin_message_send. Rows and failures are those of message_append_once.
create or replace function admin_message_send_once(
    p_caller uuid, p_key text, p_request bytea, p_actor text, p_request_id text, p_admin_key uuid, p_thread uuid,
    p_message uuid, p_sender uuid, p_type text, p_payload json, p_reply_to uuid, p_mentions text, p_expires_s int,
    p_attachments text, p_is_silent boolean
) returns table (status int, message text, is_repeat boolean, outcome text)
language plpgsql volatile as $$
begin
    select c.status, c.body, c.status is not null into status, message, is_repeat
    from idempotency_claim(p_caller, p_key, p_request) c;
    if status is null then
        select s.outcome, s.message into outcome, message
        from admin_message_send(p_actor, p_request_id, p_admin_key, p_thread, p_message, p_sender, p_type, p_payload,
            p_reply_to, p_mentions, p_expires_s, p_attachments, p_is_silent) s;
        status := idempotency_keep_message(p_caller, p_key, outcome, p_thread, p_message);
    end if;
    return next;
end $$;
