-- System messages: the service writes them into a thread when somebody joins or leaves, or when its title changes.
-- They have a seq, are in the history and in the log, and do not count as unread.

-- Returns: a UUIDv7 (RFC 9562, 5.7) of an instant: ids of instants that are a microsecond apart are in their order.
create or replace function uuid_v7(p_at timestamptz) returns uuid
language sql volatile as $$
    -- The first 48 bits are the milliseconds; then come the version, 7, and 12 bits of the millisecond's fraction (6.2,
    -- method 3); the rest is of a random UUID.
    select encode(overlay(overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(us / 1000) from 3) from 1 for 6)
        placing substring(int4send(28672 + (us % 1000)::int * 4096 / 1000) from 3) from 7 for 2), 'hex')::uuid
    from (select (extract(epoch from p_at) * 1000000)::bigint as us) t
$$;

-- Returns: a user as a system message names them, with their name at that time, so that the message needs no look-up.
create or replace function person_json(p_user uuid) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'name', u.name) from users u where u.id = p_user
$$;

-- Returns: the payload for a change of a member: `p_by` did it to `p_user`, who may be the same.
--   p_action   joined | added | left | removed
create or replace function member_news(p_action text, p_by uuid, p_user uuid) returns json
language sql stable as $$
    select json_build_object('action', p_action, 'by', person_json(p_by), 'user', person_json(p_user))
$$;

-- Appends a message of type `system` to the thread, after the position `p_head`.
-- Returns: the last position written.
-- Locks: the caller holds the thread and the log
create or replace function system_message(p_head bigint, p_now timestamptz, p_thread uuid, p_payload json) returns bigint
language plpgsql volatile as $$
declare
    v_last messages;
    v_message messages;
begin
    select * into v_last from messages m where m.thread_id = p_thread order by m.seq desc limit 1;
    insert into messages as m (thread_id, seq, id, type, payload, created_at, pos)
    values (p_thread, coalesce(v_last.seq, 0) + 1, uuid_v7(p_now), 'system', p_payload,
        greatest(p_now, v_last.created_at), p_head + 1)
    returning m.* into v_message;
    perform message_log(v_message);
    return v_message.pos;
end $$;
