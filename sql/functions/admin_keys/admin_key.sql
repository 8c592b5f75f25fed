-- Keys of programs that call the admin API. A key has a token and scopes, which never change.

-- Returns: a key as administrators see it, without its token.
create or replace function admin_key_json(k admin_keys) returns text
language sql immutable as $$
    select json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', rfc3339(k.created_at),
        'expires_at', rfc3339(k.expires_at), 'last_used_at', rfc3339(k.last_used_at))::text
$$;

-- Creates a key. The caller checks that the key which creates it (`p_admin_key`) has all of `p_scopes` and does not
-- expire earlier.
-- Returns: the key.
-- Fails: PY401 invalid_token, if the key that creates it has been revoked.
-- Locks: the row of the key that creates it
create or replace function admin_key_create(
    p_actor text, p_request text, p_admin_key uuid, p_key uuid, p_digest bytea, p_name text, p_scopes text[],
    p_expires_at timestamptz
) returns text
language plpgsql volatile as $$
declare
    v_key admin_keys;
begin
    if p_admin_key is not null then
        -- A key whose revocation is under way must not leave another one behind.
        perform from admin_keys k where k.id = p_admin_key for key share;
        if not found then
            perform refuse(401, 'invalid_token', 'The admin key is invalid, has expired or was revoked.');
        end if;
    end if;
    insert into admin_keys (id, created_at, expires_at, token_digest, name, scopes)
    values (p_key, stamp(), date_trunc('milliseconds', p_expires_at), p_digest, p_name, p_scopes)
    returning * into v_key;
    perform audit_note(p_actor, p_request, p_admin_key, 'key.create', p_subject => p_key::text);
    return admin_key_json(v_key);
end $$;

-- Returns: a page of all keys, expired ones included, the newest first.
create or replace function admin_key_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select admin_key_json(k), 0::bigint, k.id
    from admin_keys k where p_after_id is null or k.id < p_after_id order by k.id desc limit p_limit
$$;

-- Returns: the key with this token digest unless it has expired, and the position of the log at which it was read: an
-- event after it may revoke the key.
create or replace function admin_key_find(p_digest bytea, p_now timestamptz default clock_timestamp())
returns table (id uuid, name text, scopes text[], expires_at timestamptz, pos bigint)
language sql stable as $$
    select k.id, k.name, k.scopes, k.expires_at, log_head() from admin_keys k
    where k.token_digest = p_digest and (k.expires_at > p_now) is not false
$$;

-- Revokes a key: its token is invalid when this commits, and an event for nobody notifies every node.
-- Fails: PY404 key_not_found.
-- Locks: the key's row, then the log
create or replace function admin_key_delete(p_actor text, p_request text, p_admin_key uuid, p_key uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_head bigint;
begin
    delete from admin_keys k where k.id = p_key;
    if not found then
        perform refuse_unknown('key');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'key.delete', p_subject => p_key::text);
    v_head := log_begin();
    insert into events (pos, at, type, user_id, session_id, body)
    values (v_head + 1, v_now, 'key.revoked', '00000000-0000-0000-0000-000000000000', p_key,
        event_json('key.revoked', null, v_now, '{}'));
    perform log_announce(v_head + 1);
end $$;

-- Records when keys were last used. Nodes send what they saw every few seconds, so that calls do not write.
-- Locks: the keys' rows by id
create or replace function admin_key_touch(p_keys uuid[], p_times timestamptz[]) returns void
language sql volatile as $$
    with seen as (
        select k.id, u.at from unnest(p_keys, p_times) u (id, at) join admin_keys k on k.id = u.id
        order by k.id for no key update of k
    )
    update admin_keys k set last_used_at = date_trunc('milliseconds', n.at)
    from seen n where k.id = n.id and (k.last_used_at is null or n.at > k.last_used_at)
$$;
