-- The JSON that clients see, each shape made in one place. Pure functions of their arguments.

-- RFC 3339 in UTC with milliseconds; null for null.
create or replace function rfc3339(p_at timestamptz) returns text
language sql stable parallel safe as $$
    select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The time that the service stamps things with: whole milliseconds, so that what is stored is what is shown.
create or replace function stamp() returns timestamptz
language sql volatile as $$
    select date_trunc('milliseconds', clock_timestamp())
$$;

-- A profile as anyone sees it, without presence, which is for those who share a thread (profile_json).
create or replace function user_json(u users) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'username', u.username, 'name', u.name, 'profile_image', u.profile_image,
        'status_text', u.status_text, 'presence', null, 'last_seen_at', null)
$$;

-- One's own account, without presence where that is not kept: in the log.
drop function if exists account_json(users);
create or replace function account_json(u users, p_presence text default null, p_last_seen_at timestamptz default null)
returns json
language sql stable as $$
    select json_build_object('id', u.id, 'username', u.username, 'name', u.name, 'profile_image', u.profile_image,
        'status_text', u.status_text, 'presence', p_presence, 'last_seen_at', rfc3339(p_last_seen_at),
        'preferences', u.preferences, 'created_at', rfc3339(u.created_at))
$$;

create or replace function session_json(s sessions) returns json
language sql stable as $$
    select json_build_object('id', s.id, 'device_name', s.device_name, 'created_at', rfc3339(s.created_at),
        'last_used_at', rfc3339(s.last_used_at))
$$;

-- How long a thread keeps what is said in it (threads.keep_s).
create or replace function retention_json(p_keep_s int) returns json
language sql immutable parallel safe as $$
    select case when p_keep_s is null then '{"keep":"forever"}'::json
        when p_keep_s = 0 then '{"keep":"until_delivered"}'::json
        else json_build_object('keep', 'seconds', 'seconds', p_keep_s) end
$$;

-- A thread without anything that depends on who looks.
create or replace function thread_json(t threads) returns json
language sql stable as $$
    select json_build_object('id', t.id, 'kind', t.kind, 'title', t.title, 'image', t.image,
        'retention', retention_json(t.keep_s), 'member_count', t.member_count, 'created_at', rfc3339(t.created_at))
$$;

-- A message as everyone sees it; a withdrawn one as its tombstone. Concatenated and not built from JSON values, and
-- with plain arguments so that it is inlined: this runs once a message on the path of every send. `p_reactions` is JSON
-- text, null for none.
-- The one with fewer arguments would make a call that leaves out the last ambiguous.
drop function if exists message_json(uuid, bigint, uuid, uuid, text, text, text, json, uuid, uuid[], timestamptz,
    timestamptz, timestamptz, timestamptz);
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

-- An event as clients get it. `p_data` is JSON text.
create or replace function event_json(p_type text, p_thread uuid, p_at timestamptz, p_data text) returns text
language sql stable as $$
    select '{"type":"' || p_type || '"' || coalesce(',"thread_id":"' || p_thread || '"', '')
        || ',"at":"' || rfc3339(p_at) || '","data":' || p_data || '}'
$$;
