-- Incoming hooks. Each has a bot of its own, which is a member of the hook's thread and sends what is posted there.

-- Returns: a hook as administrators see it, without its token, which only its digest is left of.
create or replace function hook_json(h hooks) returns json
language sql stable as $$
    select json_build_object('id', h.id, 'thread_id', h.thread_id, 'user_id', h.user_id, 'name', u.name,
        'image', u.profile_image, 'created_at', rfc3339(h.created_at))
    from users u where u.id = h.user_id
$$;

-- Makes a hook, and its bot, which joins the thread. The bot is in no directory.
-- Returns: the hook as JSON text.
-- Fails: PY404 thread_not_found; PY409 direct_members_fixed (a direct thread has two members); PY422 (thread is full:
-- `p_group_max` for groups, `p_room_max` for rooms).
-- Locks: the thread, the bot's count of threads, then the log
create or replace function hook_create(
    p_actor text, p_request text, p_admin_key uuid, p_hook uuid, p_digest bytea, p_thread uuid, p_user uuid, p_name text, p_image text,
    p_group_max int, p_room_max int
) returns text
language plpgsql volatile as $$
declare
    v_thread threads := thread_lock(p_thread);
    v_now timestamptz := stamp();
    v_hook hooks;
    v_new members;
begin
    if v_thread.kind = 'direct' then
        perform refuse(409, 'direct_members_fixed',
            'A direct thread always has the same two members. Make a group for the hook.');
    end if;
    v_new := member_put_wanted(v_thread, p_user, p_user, null, null, 'joined', v_now);
    -- Also in a thread that all people have left.
    v_new.role := 'member';
    perform thread_refuse_full(v_thread, null, v_new, p_group_max, p_room_max);
    perform account_insert(p_user, null, null, p_name, '{}', null, true, p_image);
    perform thread_count_add(p_user, array[p_user], null);
    insert into hooks (id, token_digest, thread_id, user_id, created_at)
    values (p_hook, p_digest, p_thread, p_user, v_now) returning * into v_hook;
    perform audit_note(p_actor, p_request, p_admin_key, 'hook.create', p_user, p_thread);
    perform member_write(v_thread, v_now, v_new, 'begins', null);
    return hook_json(v_hook)::text;
end $$;

-- Returns: where a hook posts, and as whom; no row if no hook has this token.
create or replace function hook_find(p_digest bytea)
returns table (hook_id uuid, thread_id uuid, user_id uuid, is_suspended boolean)
language plpgsql stable as $$
begin
    return query
    select h.id, h.thread_id, h.user_id, u.suspended_at is not null
    from hooks h join users u on u.id = h.user_id where h.token_digest = p_digest;
end $$;

-- Returns: a page of all hooks, the newest first.
create or replace function hook_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select hook_json(h)::text, 0::bigint, h.id
    from hooks h where p_after_id is null or h.id < p_after_id order by h.id desc limit p_limit
$$;

-- Revokes a hook. Its bot leaves the thread; what it has posted stays.
-- Fails: PY404 hook_not_found.
-- Locks: the hook, then as member_delete
create or replace function hook_delete(p_actor text, p_request text, p_admin_key uuid, p_hook uuid) returns void
language plpgsql volatile as $$
declare
    v_hook hooks;
begin
    delete from hooks h where h.id = p_hook returning h.* into v_hook;
    if not found then
        perform refuse_unknown('hook');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'hook.delete', v_hook.user_id, v_hook.thread_id);
    if (member_of(v_hook.thread_id, v_hook.user_id)).status is not null then
        perform member_delete(v_hook.user_id, v_hook.thread_id, v_hook.user_id);
    end if;
end $$;
