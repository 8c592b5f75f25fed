-- Invitations to register. Administrators make them; each lets a number of people create an account, where registration
-- is by invitation only. The database has the digest of a code, never the code.

-- Returns: how long an invitation that expired or was used up stays in the list.
create or replace function invitation_memory() returns interval language sql immutable parallel safe as $$ select interval '30 days' $$;

-- Returns: an invitation as administrators see it, without its code.
create or replace function invitation_json(i invitations) returns json
language sql stable as $$
    select json_build_object('id', i.id, 'uses_left', i.uses_left, 'expires_at', rfc3339(i.expires_at),
        'created_at', rfc3339(i.created_at))
$$;

-- Creates an invitation for `p_uses` accounts.
-- Returns: the invitation as JSON text.
create or replace function invitation_create(
    p_actor text, p_request text, p_admin_key uuid, p_invitation uuid, p_digest bytea, p_uses int, p_expires_at timestamptz
) returns text
language plpgsql volatile as $$
declare
    v_new invitations;
begin
    insert into invitations (id, code_digest, uses_left, created_at, expires_at, delete_at)
    values (p_invitation, p_digest, p_uses, stamp(), p_expires_at, p_expires_at + invitation_memory()) returning * into v_new;
    perform audit_note(p_actor, p_request, p_admin_key, 'invitation.create', p_subject => p_invitation::text);
    return invitation_json(v_new)::text;
end $$;

-- Returns: a page of all invitations, the newest first; also those that expired or were used up within 30 days.
create or replace function invitation_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select invitation_json(i)::text, 0::bigint, i.id
    from invitations i where p_after_id is null or i.id < p_after_id order by i.id desc limit p_limit
$$;

-- Withdraws an invitation. Accounts that were created with it stay.
-- Fails: PY404 invitation_not_found.
-- Locks: the invitation
create or replace function invitation_delete(p_actor text, p_request text, p_admin_key uuid, p_invitation uuid) returns void
language plpgsql volatile as $$
begin
    delete from invitations i where i.id = p_invitation;
    if not found then
        perform refuse_unknown('invitation');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'invitation.delete', p_subject => p_invitation::text);
end $$;

-- Returns: whether the invitation still lets somebody register.
create or replace function invitation_is_good(i invitations, p_now timestamptz) returns boolean
language sql immutable parallel safe as $$
    select i.uses_left > 0 and coalesce(i.expires_at > p_now, true)
$$;

-- Returns: the invitation with this code; null if there is none, or it expired or was used up.
create or replace function invitation_find(p_digest bytea) returns uuid
language plpgsql stable as $$
begin
    return (select i.id from invitations i where i.code_digest = p_digest and invitation_is_good(i, clock_timestamp()));
end $$;

-- Returns: whether there is an invitation with this id that still lets somebody register; false for null.
create or replace function invitation_is_usable(p_invitation uuid, p_now timestamptz) returns boolean
language plpgsql stable as $$
begin
    return exists (select from invitations i where i.id = p_invitation and invitation_is_good(i, p_now));
end $$;

-- Uses an invitation for one account.
-- Fails: PY403 invitation_invalid (it was withdrawn, expired or used up).
-- Locks: the invitation
create or replace function invitation_spend(p_invitation uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := clock_timestamp();
begin
    update invitations i set uses_left = i.uses_left - 1,
        delete_at = case when i.uses_left = 1 then v_now + invitation_memory() else i.delete_at end
    where i.id = p_invitation and invitation_is_good(i, v_now);
    if not found then
        perform refuse(403, 'invitation_invalid',
            'The invitation is unknown, used up or expired. Ask the operator for a new one.');
    end if;
end $$;

-- Deletes invitations that expired or were used up 30 days ago, at most `p_limit`. Runs on every node.
-- Returns: how many were deleted.
-- Locks: rows that are not locked by others
create or replace function invitation_sweep(p_limit int, p_now timestamptz default clock_timestamp()) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from invitations i where i.id = any (array(
        select o.id from invitations o where o.delete_at < p_now order by o.delete_at limit p_limit
        for update skip locked));
    get diagnostics v_count = row_count;
    return v_count;
end $$;
