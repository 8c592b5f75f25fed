-- Messages that the service itself writes into a thread: who joined, who left, what it is called now. They are messages
-- like any other: with a seq of the thread's, in its archive and in the log. They don't count as unread.

-- A UUIDv7 (RFC 9562, 5.7) of an instant.
create or replace function uuid_v7(p_at timestamptz) returns uuid
language sql volatile as $$
    -- A random UUID of version 4 (0100), whose version becomes 7 (0111) and whose first 48 bits the milliseconds.
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from p_at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
        'hex')::uuid
$$;

-- Somebody as a system message names them: as they were called then, so that it can be shown by itself.
create or replace function person_json(p_user uuid) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'name', u.name) from users u where u.id = p_user
$$;

-- What is said of a member: `by` did it to `user`, who may be the same.
--   p_action   joined | added | left | removed
create or replace function member_news(p_action text, p_by uuid, p_user uuid) returns json
language sql stable as $$
    select json_build_object('action', p_action, 'by', person_json(p_by), 'user', person_json(p_user))
$$;

-- Writes a message of type `system` at the thread's end. Call it with the locks of the thread and the log held; gives the
-- last position written. `p_head` is the one before.
create or replace function system_message(p_head bigint, p_now timestamptz, p_thread uuid, p_payload json) returns bigint
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_last messages;
    v_message messages;
begin
    select * into v_last from messages m where m.thread_id = p_thread order by m.seq desc limit 1;
    insert into messages as m (thread_id, seq, id, type, payload, created_at, pos)
    values (p_thread, coalesce(v_last.seq, 0) + 1, uuid_v7(p_now), 'system', p_payload,
        greatest(p_now, v_last.created_at), p_head + 1)
    returning m.* into v_message;
    insert into events (pos, at, type, thread_id, body)
    values (v_message.pos, v_message.created_at, 'message.created', p_thread,
        event_json('message.created', p_thread, v_message.created_at, message_view(v_message)));
    return v_message.pos;
end $$;
