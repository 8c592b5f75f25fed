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
        status := case outcome when 'created' then 201 when 'exists' then 200 end;
        if status is null then
            delete from idempotency_keys k where k.caller_id = p_caller and k.key = p_key;
        else
            perform idempotency_keep(p_caller, p_key, status, null, p_thread, p_id);
            message := message_view(message_find(p_thread, p_id));
        end if;
    end if;
    return next;
end $$;
