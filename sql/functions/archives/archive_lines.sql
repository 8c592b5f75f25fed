-- The lines of an archive (docs/import-export.md), made from rows.

-- Returns: a line of a type. Members that are null are left out, and so are those of objects within.
create or replace function archive_line(p_type text, p_data json) returns text
language sql immutable parallel safe as $$
    select '{"type":"' || p_type || '","data":' || json_strip_nulls(p_data) || '}'
$$;

-- Returns: a line with one or two members more, whose own nulls stay. Without them for null.
create or replace function archive_line_with(
    p_type text, p_data json, p_name text, p_value json, p_other text default null, p_other_value json default null)
returns text
language sql immutable parallel safe as $$
    select '{"type":"' || p_type || '","data":' || left(json_strip_nulls(p_data)::text, -1)
        || coalesce(',"' || p_name || '":' || p_value, '') || coalesce(',"' || p_other || '":' || p_other_value, '') || '}}'
$$;

-- Returns: an account without its password. An erased one has its name alone.
create or replace function archive_user(u users) returns text
language sql stable as $$
    select case when u.erased_at is not null
        then archive_line('user', json_build_object('id', u.id, 'name', u.name, 'kind', case when u.is_bot then 'bot' end,
            'created_at', rfc3339(u.created_at), 'erased', true))
        else archive_line_with('user', json_build_object('id', u.id, 'username', u.username, 'name', u.name,
            'profile_image', u.profile_image, 'status_text', u.status_text, 'email', u.email,
            'external_id', u.external_id, 'kind', case when u.is_bot then 'bot' end,
            'suspended', case when u.suspended_at is not null then true end, 'created_at', rfc3339(u.created_at)),
            'preferences', case when u.preferences::text <> '{}' then u.preferences end, 'custom', u.custom::json) end
$$;

-- Returns: a thread without its members.
create or replace function archive_thread(t threads) returns text
language sql stable as $$
    select archive_line_with('thread', json_build_object('id', t.id, 'kind', t.kind, 'external_id', t.external_id,
        'title', t.title, 'topic', t.topic, 'image', t.image, 'labels', t.labels, 'retention', case when t.keep_s is not null then retention_json(t.keep_s) end,
        'user_ids', case when t.kind = 'direct' then json_build_array(t.direct_low, t.direct_high) end,
        'created_at', rfc3339(t.created_at)), 'custom', t.custom::json)
$$;

-- Returns: a membership with the member's marks and settings.
create or replace function archive_member(m members) returns text
language sql stable as $$
    select archive_line_with('member', json_build_object('thread_id', m.thread_id, 'user_id', m.user_id, 'role', m.role,
        'status', m.status, 'left_by_choice', m.left_by_choice, 'joined_at', rfc3339(m.joined_at),
        'invited_at', rfc3339(m.invited_at), 'invited_by', m.invited_by,
        'read_seq', m.read_seq, 'read_at', rfc3339(m.read_at),
        'delivered_seq', greatest(m.delivered_seq, m.read_seq), 'delivered_at', rfc3339(m.delivered_at),
        'muted_until', rfc3339(m.muted_until), 'archived', nullif(m.archived, false), 'pinned', nullif(m.pinned, false),
        'notify', m.notify, 'hidden_before_seq', nullif(m.hidden_before_seq, 0), 'labels', m.labels), 'custom', m.custom::json)
$$;

-- Returns: a message. Withdrawn content is left out, as everywhere.
create or replace function archive_message(m messages) returns text
language sql stable as $$
    select archive_line_with('message', json_build_object('id', m.id, 'thread_id', m.thread_id, 'seq', m.seq,
        'sender_id', m.sender_id, 'type', m.type, 'reply_to', m.reply_to,
        'mentions', case when m.mentions <> '{}' then m.mentions end, 'created_at', rfc3339(m.created_at),
        'edited_at', rfc3339(m.edited_at), 'deleted_at', rfc3339(m.deleted_at), 'expires_at', rfc3339(m.expires_at)),
        'payload', m.payload)
$$;

-- Returns: an earlier version of a message.
create or replace function archive_version(e message_edits, p_message uuid) returns text
language sql stable as $$
    select archive_line_with('message_version', json_build_object('thread_id', e.thread_id, 'message_id', p_message,
        'version', e.version, 'replaced_at', rfc3339(e.replaced_at)), 'payload', e.payload)
$$;

-- Returns: a ready attachment without its bytes.
create or replace function archive_attachment(a attachments) returns text
language sql stable as $$
    select archive_line('attachment', json_build_object('id', a.id, 'owner_id', a.owner_id, 'name', a.name,
        'declared_type', a.declared_type, 'media_type', a.media_type, 'size', a.size, 'sha256', encode(a.digest, 'hex'),
        'width', a.width, 'height', a.height, 'thumbhash', replace(encode(a.thumbhash, 'base64'), E'\n', ''),
        'thumbnail', case when a.thumbnail_digest is not null then json_build_object('type', a.thumbnail_type,
            'size', a.thumbnail_size, 'sha256', encode(a.thumbnail_digest, 'hex'), 'own', a.thumbnail_is_own) end,
        'created_at', rfc3339(a.created_at)))
$$;
