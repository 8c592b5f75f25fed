-- The functions for other programs (docs/sql.md), for both kinds of outbox: the one in Parley's database, and those that
-- `parley outbox install` makes in other databases, with this file, the migration 0002_outbox.sql and
-- sql/outbox/install.sql. They check what can be checked and add a row to the outbox, in the caller's transaction. The
-- tables are in Parley's own schema here and in the schema `parley` there, so functions that use one keep the search path
-- of the installation. outbox_write.sql has the functions that look at Parley's tables; install.sql has their
-- counterparts, which know nothing. The end of this file lets other programs call three functions as their owner.

-- Sends a message. The same id with the same body again changes nothing.
-- Returns: the message's id.
-- Fails: PY422 invalid; PY409 id_taken; in Parley's database also as outbox_check_message.
create or replace function parley.send(sender uuid, thread uuid, payload jsonb, id uuid default gen_random_uuid()) returns uuid
language plpgsql volatile as $$
#variable_conflict use_variable
declare
    v_thread uuid;
    v_body json;
    v_attachments uuid[];
    v_waiting outbox;
    v_is_same boolean;
begin
    perform parley.outbox_require('sender, thread and id',
        sender is not null and thread is not null and id is not null);
    select p.body, p.attachments into v_body, v_attachments from parley.outbox_payload(payload) p;
    v_thread := outbox_thread(thread);
    select * into v_waiting from outbox o where o.thread_id = v_thread and o.message_id = id order by o.seq limit 1;
    if found then
        v_is_same := v_waiting.user_id = sender and v_waiting.payload::text = v_body::text;
    else
        v_is_same := outbox_was_sent(sender, v_thread, id, payload, v_body, v_attachments);
    end if;
    if v_is_same then
        return id;
    elsif not v_is_same then
        perform parley.outbox_refuse('PY409', 'id_taken', 'Another message of this thread has this id. Use a new id.');
    end if;
    perform outbox_check_message(sender, v_thread, v_attachments);
    insert into outbox (kind, thread_id, user_id, message_id, payload, attachments)
    values ('send', v_thread, sender, id, v_body, v_attachments);
    return id;
end $$;

-- Makes sure that the two people have a direct thread, which the first one has joined.
-- Returns: the thread's id. Messages to it can be sent in the same transaction.
-- Fails: PY422 invalid; in Parley's database also as outbox_check_direct.
create or replace function parley.ensure_direct(a uuid, b uuid) returns uuid
language plpgsql volatile as $$
#variable_conflict use_variable
declare
    v_thread uuid;
    v_is_joined boolean;
begin
    perform parley.outbox_require('a and b', a is not null and b is not null);
    if a = b then
        perform parley.outbox_refuse('PY422', 'invalid', 'a and b must be two different people.');
    end if;
    select d.thread_id, d.is_joined into v_thread, v_is_joined from outbox_check_direct(a, b) d;
    v_thread := coalesce(v_thread, parley.outbox_direct_id(a, b));
    if not v_is_joined and not exists (select from outbox o
        where o.thread_id = v_thread and o.message_id is null and o.kind = 'ensure_direct' and o.user_id = a) then
        insert into outbox (kind, thread_id, user_id, other_id) values ('ensure_direct', v_thread, a, b);
    end if;
    return v_thread;
end $$;

-- Adds a member to a group or room. Adding a member again changes nothing.
-- Fails: PY422 invalid; in Parley's database also as outbox_check_member.
create or replace function parley.add_member(thread uuid, "user" uuid) returns void
language plpgsql volatile as $$
#variable_conflict use_variable
declare
    v_user uuid := "user";
begin
    perform parley.outbox_require('thread and user', thread is not null and v_user is not null);
    if not outbox_check_member(thread, v_user) then
        insert into outbox (kind, thread_id, user_id) values ('add_member', thread, v_user);
    end if;
end $$;

-- Fails: always, with a message that begins with the code: other programs' drivers often show the message alone.
create or replace function parley.outbox_refuse(p_state text, p_code text, p_detail text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = p_state, message = p_code || ': ' || p_detail;
end $$;

-- Fails: PY422 invalid if one of the arguments is null.
create or replace function parley.outbox_require(p_names text, p_is_given boolean) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if not p_is_given then
        perform parley.outbox_refuse('PY422', 'invalid', p_names || ' must not be null.');
    end if;
end $$;

-- Returns: the JSON as text without spaces between its parts, as the API stores payloads.
create or replace function parley.outbox_compact(p_json jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    -- A string stays as it is; of a comma or colon between strings only the space is left out.
    select regexp_replace(p_json::text, '("(?:[^"\\]|\\.)*")|([:,]) ', '\1\2', 'g')
$$;

-- Returns: the id that the direct thread of two people gets if SQL asks for it first. It is a function of the two, so
-- that transactions that cannot see each other agree. A UUIDv8 (RFC 9562): a part of a SHA-256, and zeros in the 8 bits
-- for the lane.
create or replace function parley.outbox_direct_id(p_one uuid, p_two uuid) returns uuid
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
    select encode(set_byte(set_byte(set_byte(h.hash, 6, 128 | (get_byte(h.hash, 6) & 15)), 7, 0), 8,
        128 | (get_byte(h.hash, 8) & 63)), 'hex')::uuid
    from (select substring(sha256(convert_to(
        'parley.ensure_direct ' || least(p_one, p_two) || ' ' || greatest(p_one, p_two), 'UTF8')) for 16)) h (hash)
$$;

-- Returns: a message's payload as it is stored, and the ids of its attachments, null without any. The rules are those
-- of the API for the type `message`.
-- Fails: PY422 invalid.
create or replace function parley.outbox_payload(p_payload jsonb, out body json, out attachments uuid[])
language plpgsql stable
set search_path from current
as $$
declare
    v_limits outbox_limits;
    v_compact text;
    v_frame text;
    v_list jsonb := p_payload -> 'attachments';
    v_depth int := 0;
begin
    select * into v_limits from outbox_limits l;
    if p_payload is null or jsonb_typeof(p_payload) <> 'object' then
        perform parley.outbox_refuse('PY422', 'invalid', 'payload must be a JSON object.');
    end if;
    if v_list is not null then
        attachments := parley.outbox_attachments(v_list);
    end if;
    if not p_payload ? 'text' then
        if attachments is null then
            perform parley.outbox_refuse('PY422', 'invalid', 'payload.text is required in a message without attachments.');
        end if;
    elsif jsonb_typeof(p_payload -> 'text') <> 'string' then
        perform parley.outbox_refuse('PY422', 'invalid', 'payload.text must be a string.');
    elsif p_payload ->> 'text' = '' and attachments is null then
        perform parley.outbox_refuse('PY422', 'invalid', 'payload.text must not be empty.');
    elsif octet_length(convert_to(p_payload ->> 'text', 'UTF8')) > v_limits.text_bytes_max then
        perform parley.outbox_refuse('PY422', 'invalid',
            format('payload.text must have at most %s bytes.', v_limits.text_bytes_max));
    end if;
    v_compact := parley.outbox_compact(p_payload);
    if octet_length(convert_to(v_compact, 'UTF8')) > v_limits.payload_bytes_max then
        perform parley.outbox_refuse('PY422', 'invalid',
            format('payload must have at most %s bytes as compact JSON.', v_limits.payload_bytes_max));
    end if;
    -- What is left without strings shows long numbers, and the brackets show how deep the JSON nests.
    v_frame := regexp_replace(v_compact, '"(?:[^"\\]|\\.)*"', '', 'g');
    if v_frame ~ '[0-9.]{65}' then
        perform parley.outbox_refuse('PY422', 'invalid', 'payload must have no number with more than 64 digits.');
    end if;
    v_frame := regexp_replace(v_frame, '[^][{}]', '', 'g');
    while v_frame <> '' loop
        v_depth := v_depth + 1;
        -- One less than the API allows for a whole request.
        if v_depth > 31 then
            perform parley.outbox_refuse('PY422', 'invalid', 'payload must nest at most 31 levels deep.');
        end if;
        v_frame := regexp_replace(v_frame, '\[\]|\{\}', '', 'g');
    end loop;
    if attachments is not null then
        -- As the API writes it: the attachments are the last member, by their ids alone (attachment_embed).
        v_compact := left(parley.outbox_compact(p_payload - 'attachments'), -1);
        v_compact := v_compact || case when v_compact = '{' then '' else ',' end
            || '"attachments":[{"id":"' || array_to_string(attachments, '"},{"id":"') || '"}]}';
    end if;
    body := v_compact::json;
end $$;

-- Returns: the ids of a payload's attachments; null for none.
-- Fails: PY422 invalid.
create or replace function parley.outbox_attachments(p_list jsonb) returns uuid[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_entry jsonb;
    v_ids uuid[];
    v_key text;
begin
    if jsonb_typeof(p_list) <> 'array' or jsonb_array_length(p_list) > 10 then
        perform parley.outbox_refuse('PY422', 'invalid', 'payload.attachments must be an array of at most 10 entries.');
    end if;
    for v_entry in select e.entry from jsonb_array_elements(p_list) with ordinality e (entry, place) order by e.place loop
        if jsonb_typeof(v_entry) <> 'object' or coalesce(jsonb_typeof(v_entry -> 'id'), '') <> 'string'
            or v_entry ->> 'id' !~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
            perform parley.outbox_refuse('PY422', 'invalid',
                'payload.attachments must have an object {"id": "…"} with a UUID for each attachment.');
        end if;
        for v_key in select jsonb_object_keys(v_entry) loop
            if v_key not in ('id', 'name', 'content_type', 'size', 'width', 'height', 'thumbhash', 'thumbnail') then
                perform parley.outbox_refuse('PY422', 'invalid',
                    'payload.attachments has an entry with the unknown key ' || v_key || '.');
            end if;
        end loop;
        if (v_entry ->> 'id')::uuid = any (v_ids) then
            perform parley.outbox_refuse('PY422', 'invalid', 'payload.attachments must not name an attachment twice.');
        end if;
        v_ids := v_ids || (v_entry ->> 'id')::uuid;
    end loop;
    return v_ids;
end $$;

-- Sets the limits that parley.send checks.
create or replace function parley.outbox_configure(p_text_bytes_max int, p_payload_bytes_max int) returns void
language sql volatile
set search_path from current
as $$
    update outbox_limits l set text_bytes_max = p_text_bytes_max, payload_bytes_max = p_payload_bytes_max
    where (l.text_bytes_max, l.payload_bytes_max) <> (p_text_bytes_max, p_payload_bytes_max)
$$;

-- Makes the role for other programs, if there is none, and lets it call three functions and nothing else. Roles belong to
-- the whole server: another database may have made it, or may be making it now.
-- Fails: 42501, if the caller may make no roles.
create or replace function parley.outbox_grant() returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regrole('parley_sender') is null then
        begin
            create role parley_sender nologin;
        exception when duplicate_object or unique_violation then
            null;
        end;
    end if;
    grant usage on schema parley to parley_sender;
    grant execute on function parley.send(uuid, uuid, jsonb, uuid), parley.ensure_direct(uuid, uuid),
        parley.add_member(uuid, uuid) to parley_sender;
end $$;

-- These run as their owner, with the search path of the installation and the planner settings of Parley's sessions.
do $$
declare
    v_function text;
begin
    foreach v_function in array array['send(uuid, uuid, jsonb, uuid)', 'ensure_direct(uuid, uuid)',
        'add_member(uuid, uuid)'] loop
        execute format('alter function parley.%s security definer set search_path from current set enable_seqscan = off
            set enable_hashjoin = off set enable_mergejoin = off set jit = off', v_function);
    end loop;
end $$;
