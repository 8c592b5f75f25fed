-- Attachments as clients see them, and the refusals that several functions share. The functions of an upload are in
-- attachment_upload.sql, the work on complete files in attachment_check.sql, downloads in attachment_read.sql, uses in
-- attachment_use.sql, deletion in attachment_sweep.sql, the object store in attachment_move.sql.

-- Returns: the members of an attachment's JSON that messages show, without braces.
create or replace function attachment_members(a attachments) returns text
language plpgsql stable as $$
begin
    return '"id":"' || a.id || '","name":' || to_json(a.name)
        || ',"content_type":' || to_json(coalesce(a.media_type, 'application/octet-stream'))
        || ',"size":' || coalesce(a.size, a.length, a.received)
        || coalesce(',"width":' || a.width, '') || coalesce(',"height":' || a.height, '')
        || coalesce(',"thumbhash":"' || encode(a.thumbhash, 'base64') || '"', '')
        || ',"thumbnail":' || (a.thumbnail_digest is not null)::text;
end $$;

-- Returns: an attachment as its own calls show it, as JSON text.
create or replace function attachment_json(a attachments) returns text
language plpgsql stable as $$
begin
    return '{' || attachment_members(a)
        || ',"state":"' || (array['receiving', 'checking', 'ready', 'refused'])[a.state + 1] || '"'
        || ',"created_at":"' || rfc3339(a.created_at) || '"}';
end $$;

-- Fails: PY404 attachment_not_found, always.
create or replace function attachment_refuse() returns void
language sql stable as $$
    select refuse(404, 'attachment_not_found', 'There is no such attachment, or you cannot see it.')
$$;

-- Fails: always, for an attachment that is not ready: PY409 attachment_refused, attachment_not_ready.
create or replace function attachment_refuse_state(p_state int) returns void
language plpgsql stable as $$
begin
    if p_state = 3 then
        perform refuse(409, 'attachment_refused',
            'The virus scanner refused this file. Upload another file with a new id.');
    end if;
    perform refuse(409, 'attachment_not_ready',
        'This attachment is still being uploaded or checked. Retry when its state is ready.');
end $$;

-- Fails: PY409 upload_superseded, always: the caller's claim has ended.
create or replace function attachment_refuse_claim() returns void
language sql stable as $$
    select refuse(409, 'upload_superseded',
        'Another request has continued or deleted this upload. Ask for its offset with HEAD.')
$$;

-- Fails: PY403 quota_exceeded, always.
create or replace function attachment_refuse_quota(p_quota bigint) returns void
language plpgsql stable as $$
begin
    perform refuse(403, 'quota_exceeded',
        'Your attachments may have ' || p_quota
            || ' bytes together. Delete unused attachments, or messages with attachments.');
end $$;

-- Returns: the attachment, of this owner, locked. All null if it is another user's, deleted, or does not exist.
create or replace function attachment_own(p_id uuid, p_owner uuid) returns attachments
language plpgsql volatile as $$
declare
    v_attachment attachments;
begin
    select * into v_attachment from attachments a
    where a.id = p_id and a.owner_id = p_owner and a.state < 4 for no key update;
    return v_attachment;
end $$;
