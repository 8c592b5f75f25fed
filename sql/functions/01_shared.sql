-- Times, and the JSON that clients see. Applied before the features' functions, whose arguments have stamp() as a
-- default. Each shape is made in one place, by functions of their arguments alone.

-- Returns: RFC 3339 in UTC with milliseconds; null for null.
create or replace function rfc3339(p_at timestamptz) returns text
language sql stable parallel safe as $$
    select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- Returns: the time that the service stores, in whole milliseconds: what is stored is what clients see.
create or replace function stamp() returns timestamptz
language sql volatile as $$
    select date_trunc('milliseconds', clock_timestamp())
$$;

-- Returns: the profile or account with `kind`, if it is a bot's. The id stays its first member (erasure_text).
create or replace function kind_json(u users, p_json json) returns json
language sql stable as $$
    select case when u.is_bot then (p_json::jsonb || '{"kind":"bot"}')::json else p_json end
$$;

-- Returns: a profile as anyone sees it, without presence. profile_json has the presence, for people who share a
-- thread.
create or replace function user_json(u users) returns json
language sql stable as $$
    select kind_json(u, json_build_object('id', u.id, 'username', u.username, 'name', u.name,
        'profile_image', u.profile_image, 'status_text', u.status_text, 'custom', u.custom::json, 'presence', null,
        'last_seen_at', null))
$$;

-- Returns: the caller's own account. Presence is left out in the log, which does not keep it.
create or replace function account_json(u users, p_presence text default null, p_last_seen_at timestamptz default null)
returns json
language sql stable as $$
    select kind_json(u, json_build_object('id', u.id, 'username', u.username, 'name', u.name,
        'profile_image', u.profile_image, 'status_text', u.status_text, 'custom', u.custom::json, 'presence', p_presence,
        'last_seen_at', rfc3339(p_last_seen_at), 'preferences', u.preferences, 'external_id', u.external_id,
        'created_at', rfc3339(u.created_at)))
$$;

-- Returns: a session as its account sees it.
create or replace function session_json(s sessions) returns json
language sql stable as $$
    select json_build_object('id', s.id, 'device_name', s.device_name, 'created_at', rfc3339(s.created_at),
        'last_used_at', rfc3339(s.last_used_at))
$$;

-- Returns: how long a thread keeps the content of its messages (threads.keep_s).
create or replace function retention_json(p_keep_s int) returns json
language sql immutable parallel safe as $$
    select case when p_keep_s is null then '{"keep":"forever"}'::json
        when p_keep_s = 0 then '{"keep":"until_delivered"}'::json
        else json_build_object('keep', 'seconds', 'seconds', p_keep_s) end
$$;

-- Returns: labels as clients see them. Null is none, as it is stored. Inlined.
create or replace function labels_json(p_labels text[]) returns text[]
language sql immutable parallel safe as $$
    select coalesce(p_labels, '{}')
$$;

-- Returns: the labels of a JSON array as they are stored; null for null and for none.
create or replace function labels_of(p_labels json) returns text[]
language sql immutable parallel safe as $$
    select case when json_typeof(p_labels) = 'array' and json_array_length(p_labels) > 0
        then array(select json_array_elements_text(p_labels)) end
$$;

-- Returns: a thread without anything that depends on who looks.
create or replace function thread_json(t threads) returns json
language sql stable as $$
    select json_build_object('id', t.id, 'kind', t.kind, 'external_id', t.external_id, 'title', t.title,
        'topic', t.topic, 'image', t.image, 'custom', t.custom::json, 'labels', labels_json(t.labels), 'retention', retention_json(t.keep_s),
        'member_count', t.member_count, 'created_at', rfc3339(t.created_at))
$$;

-- Returns: a message as everyone sees it; a withdrawn one as its tombstone. `p_reactions` is JSON text, null for none.
-- Concatenated rather than built from JSON values, and with plain arguments so that it is inlined: this runs for every
-- message that is sent.
create or replace function message_json(p_thread uuid, p_seq bigint, p_id uuid, p_sender uuid, p_name text, p_image text,
    p_type text, p_payload json, p_reply_to uuid, p_mentions uuid[], p_created_at timestamptz, p_edited_at timestamptz,
    p_deleted_at timestamptz, p_expires_at timestamptz, p_reactions text default null) returns text
language sql stable as $$
    select '{"id":"' || p_id || '","thread_id":"' || p_thread || '","seq":' || p_seq
        || ',"timestamp":"' || rfc3339(p_created_at) || '","type":' || to_json(p_type)
        || ',"sender":' || case when p_sender is null then 'null' else
            '{"id":"' || p_sender || '","name":' || to_json(p_name)
            || ',"profile_image":' || coalesce(to_json(p_image)::text, 'null') || '}' end
        || ',"payload":' || coalesce(p_payload::text, 'null')
        || ',"reply_to":' || coalesce('"' || p_reply_to || '"', 'null')
        || ',"mentions":' || case when p_mentions = '{}' then '[]' else to_json(p_mentions)::text end
        -- In parentheses: without reactions it is one constant.
        || (',"reactions":' || coalesce(p_reactions, '{}') || ',"edited_at":')
        || coalesce('"' || rfc3339(p_edited_at) || '"', 'null')
        || ',"deleted_at":' || coalesce('"' || rfc3339(p_deleted_at) || '"', 'null')
        || ',"expires_at":' || coalesce('"' || rfc3339(p_expires_at) || '"', 'null') || '}'
$$;

-- Returns: how messages_by_sender finds the messages of a sender in a thread, with `seq::int`. Others may have the same
-- key, so the columns are compared too: with `sender_is`, which no index can serve, so that this one is used whatever
-- the statistics say. Inlined.
create or replace function sender_key(p_sender uuid, p_thread uuid) returns int
language sql immutable parallel safe as $$
    select uuid_hash(p_sender) # uuid_hash(p_thread)
$$;

-- Returns: whether a message is in the thread, and the sender's.
create or replace function sender_is(m messages, p_sender uuid, p_thread uuid) returns boolean
language sql immutable parallel safe as $$
    select m.sender_id = p_sender and (m.thread_id = p_thread) is true
$$;

-- Returns: an event as clients get it. `p_data` is JSON text.
create or replace function event_json(p_type text, p_thread uuid, p_at timestamptz, p_data text) returns text
language sql stable as $$
    select '{"type":"' || p_type || '"' || coalesce(',"thread_id":"' || p_thread || '"', '')
        || ',"at":"' || rfc3339(p_at) || '","data":' || p_data || '}'
$$;

-- Ends the call with a problem: its HTTP status, its code, a sentence for people, and for a 422 the field that it is about.
-- Fails: always, with SQLSTATE PY and the status. The message is the code, the hint is the field.
create or replace function refuse(p_status int, p_code text, p_detail text, p_field text default '') returns void
language plpgsql stable as $$
begin
    raise exception using errcode = 'PY' || p_status, message = p_code, detail = p_detail, hint = p_field;
end $$;

-- Fails: always, with 404 and the code of a thing that does not exist. The result is for expressions, as of coalesce. For
-- administrators: a user's call must not show whether a thread exists (thread_refuse).
create or replace function refuse_unknown(p_thing text) returns text
language plpgsql stable as $$
begin
    perform refuse(404, p_thing || '_not_found', format('There is no such %s.', p_thing));
    return null;
end $$;

-- Fails: PY401 invalid_token, always: the caller's session or account has ended meanwhile.
create or replace function caller_refuse() returns void
language sql stable as $$
    select refuse(401, 'invalid_token', 'The token is invalid, or its session has ended. Sign in again.')
$$;

-- Checks the account and the thread that a hold or an archive is limited to; null for none. The account may be erased.
-- Fails: PY404 user_not_found, thread_not_found.
create or replace function scope_check(p_user uuid, p_thread uuid) returns void
language plpgsql stable as $$
begin
    if p_user is not null and not exists (select from users u where u.id = p_user) then
        perform refuse_unknown('user');
    elsif p_thread is not null and not exists (select from threads t where t.id = p_thread) then
        perform refuse_unknown('thread');
    end if;
end $$;
