-- Reading attachments, with the checks of the caller's access.

-- Returns: whether the user may see a ready attachment: its owner while nothing uses it; otherwise everyone who sees
-- something that uses it. False for null, the user of an ended session. A use by a message is deleted together with the
-- message's content.
-- Costs: an index probe or two for each use, until one is found
create or replace function attachment_is_seen(a attachments, p_user uuid) returns boolean
language plpgsql stable as $$
begin
    if p_user is null then
        return false;
    elsif (select u.kind from attachment_uses u where u.attachment_id = a.id limit 1) is null then
        return a.owner_id = p_user;
    end if;
    return exists (select from attachment_uses u where u.attachment_id = a.id and u.is_current
        and case u.kind
            -- Every user may ask for any profile.
            when 'profile' then true
            when 'held' then false
            when 'review' then (attachment_user(u)).user_id = p_user
            when 'thread' then attachment_thread_is_seen(u.holder_id, p_user)
            else attachment_message_is_seen(u.holder_id, u.seq, p_user) end);
end $$;

-- Returns: whether the user sees the thread's picture: its members, the invited, and of a room everyone.
create or replace function attachment_thread_is_seen(p_thread uuid, p_user uuid) returns boolean
language plpgsql stable as $$
begin
    return (member_of(p_thread, p_user)).status is not null
        or (select t.kind from threads t where t.id = p_thread) = 'room';
end $$;

-- Returns: whether message_get would return the message to the user (message_of).
create or replace function attachment_message_is_seen(p_thread uuid, p_seq bigint, p_user uuid) returns boolean
language plpgsql stable as $$
declare
    v_member members := member_of(p_thread, p_user);
begin
    return v_member.status = 'joined' and p_seq >= v_member.hidden_before_seq
        and not (v_member.hides and message_is_hidden(p_thread, p_user, p_seq));
end $$;

-- Returns: the ready attachment.
-- Fails: PY404 attachment_not_found (also to everyone who may not see it); PY409 attachment_not_ready,
-- attachment_refused, to its owner.
create or replace function attachment_of(p_id uuid, p_user uuid) returns attachments
language plpgsql stable as $$
declare
    v_attachment attachments;
begin
    select * into v_attachment from attachments a where a.id = p_id;
    if v_attachment.state in (0, 1, 3) and v_attachment.owner_id = p_user then
        perform attachment_refuse_state(v_attachment.state);
    elsif v_attachment.state is distinct from 2 or attachment_is_seen(v_attachment, p_user) is not true then
        perform attachment_refuse();
    end if;
    return v_attachment;
end $$;

-- Returns: what a download needs to know of a variant (0 original, 1 thumbnail). The caller is `p_user`, or the user of
-- the session `p_session`.
-- Fails: as attachment_of; PY404 attachment_not_found also for an ended session, and without a thumbnail.
create or replace function attachment_open(p_id uuid, p_variant smallint, p_user uuid, p_session uuid)
returns table (media_type text, size bigint, digest bytea, name text, is_transient boolean, is_moved boolean)
language plpgsql stable as $$
declare
    v_attachment attachments;
begin
    if p_session is not null then
        p_user := (select u.id from sessions s join users u on u.id = s.user_id
            where s.id = p_session and u.suspended_at is null);
    end if;
    v_attachment := attachment_of(p_id, p_user);
    if p_variant = 1 then
        if v_attachment.thumbnail_digest is null then
            perform refuse(404, 'attachment_not_found', 'This attachment has no thumbnail.');
        end if;
        v_attachment.media_type := v_attachment.thumbnail_type;
        v_attachment.size := v_attachment.thumbnail_size;
        v_attachment.digest := v_attachment.thumbnail_digest;
        v_attachment.is_moved := v_attachment.thumbnail_is_moved;
    end if;
    return query select v_attachment.media_type, v_attachment.size, v_attachment.digest, v_attachment.name,
        exists (select from attachment_uses u where u.attachment_id = p_id and u.is_transient), v_attachment.is_moved;
end $$;

-- Returns: the bytes of a chunk; null if it was deleted or moved to the object store.
create or replace function attachment_chunk(p_id uuid, p_variant smallint, p_n int) returns bytea
language plpgsql stable as $$
begin
    return (select c.data from attachment_chunks c
        where c.attachment_id = p_id and c.variant = p_variant and c.n = p_n);
end $$;

-- Returns: the attachment as JSON text: in any state to its owner, while nothing uses it; otherwise as attachment_of.
-- Fails: PY404 attachment_not_found.
create or replace function attachment_get(p_id uuid, p_user uuid) returns text
language plpgsql stable as $$
declare
    v_attachment attachments;
begin
    select * into v_attachment from attachments a where a.id = p_id and a.state < 4;
    if v_attachment.owner_id is distinct from p_user or v_attachment.state = 2 then
        v_attachment := attachment_of(p_id, p_user);
    end if;
    return attachment_json(v_attachment);
end $$;

-- Stores the owner's own thumbnail, which takes the place of the server's. Messages show whether there is a thumbnail,
-- so it cannot change once something uses the attachment.
-- Returns: the attachment as JSON text.
-- Fails: PY404 attachment_not_found; PY409 attachment_in_use, attachment_refused; PY409 attachment_not_ready (no byte of
-- the file has arrived); PY403 quota_exceeded (null: no quota).
-- Locks: the user's row, the attachment
create or replace function attachment_put_thumbnail(
    p_id uuid, p_owner uuid, p_data bytea, p_media_type text, p_digest bytea, p_quota bigint default null) returns text
language plpgsql volatile as $$
declare
    v_attachment attachments;
begin
    -- As attachment_room: the account's concurrent uploads are counted one after the other.
    perform from users u where u.id = p_owner for no key update;
    v_attachment := attachment_own(p_id, p_owner);
    if v_attachment.id is null then
        perform attachment_refuse();
    elsif v_attachment.state = 3 then
        perform attachment_refuse_state(v_attachment.state);
    elsif v_attachment.thumbnail_digest is distinct from p_digest or not v_attachment.thumbnail_is_own then
        if v_attachment.due_at is null then
            perform refuse(409, 'attachment_in_use',
                'A message, a profile or a thread uses this attachment. Delete or change that first.');
        elsif v_attachment.received = 0 then
            perform refuse(409, 'attachment_not_ready',
                'No byte of this attachment has arrived. Send its first bytes before its thumbnail.');
        elsif attachment_bytes(p_owner, null) - coalesce(v_attachment.thumbnail_size, 0) + octet_length(p_data) > p_quota
        then
            perform attachment_refuse_quota(p_quota);
        end if;
        delete from attachment_chunks c where c.attachment_id = p_id and c.variant = 1;
        if v_attachment.thumbnail_is_moved then
            insert into attachment_garbage (key, next_at)
            select k.key, stamp() from attachment_keys(p_id) k where k.variant = 1
            on conflict (key) do nothing;
        end if;
        insert into attachment_chunks (attachment_id, variant, n, data) values (p_id, 1, 0, p_data);
        -- A node that moves the file must not delete this chunk: its claim ends.
        update attachments a set thumbnail_type = p_media_type, thumbnail_size = octet_length(p_data),
            thumbnail_digest = p_digest, thumbnail_is_own = true, thumbnail_is_moved = false,
            stored_bytes = case a.state when 0 then 0 else coalesce(a.size, a.received) + octet_length(p_data) end,
            claim = case a.state when 2 then nextval('attachment_claims') else a.claim end
        where a.id = p_id
        returning a.* into v_attachment;
    end if;
    return attachment_json(v_attachment);
end $$;
