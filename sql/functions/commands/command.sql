-- Commands: the calls of administrators, and what members see of them.

-- Returns: a command as administrators see it, without its secret. `waiting_runs` are messages not answered yet.
create or replace function command_json(c commands) returns jsonb
language sql stable as $$
    select jsonb_build_object('id', c.id, 'word', c.word, 'url', c.url, 'description', c.description,
        'thread_id', c.thread_id, 'user_id', c.user_id, 'name', u.name, 'image', u.profile_image,
        'enabled', c.is_enabled, 'disabled_at', rfc3339(c.disabled_at), 'disabled_reason', c.disabled_reason,
        'created_at', rfc3339(c.created_at),
        'former_secret_until', case when c.former_until > clock_timestamp() then rfc3339(c.former_until) end,
        'waiting_runs', (select count(*) from command_runs r where r.command_id = c.id))
    from users u where u.id = c.user_id
$$;

-- Returns: a command.
-- Fails: PY404 command_not_found.
create or replace function command_get(p_command uuid) returns text
language sql stable as $$
    select coalesce((select command_json(c)::text from commands c where c.id = p_command), refuse_unknown('command'))
$$;

-- Returns: a page of all commands, the newest first.
create or replace function command_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select command_json(c)::text, 0::bigint, c.id
    from commands c where p_after_id is null or c.id < p_after_id order by c.id desc limit p_limit
$$;

-- Returns: the words that a member may use in a thread, in order, as a JSON array of {word, description}.
-- Fails: PY404 thread_not_found, PY403 not_joined.
create or replace function command_offer(p_user uuid, p_thread uuid) returns text
language plpgsql stable as $$
begin
    perform member_joined(p_thread, p_user);
    return (select coalesce(json_agg(json_build_object('word', c.word, 'description', c.description) order by c.word), '[]')
        from commands c join users u on u.id = c.user_id
        where c.is_enabled and u.suspended_at is null and (c.thread_id is null or c.thread_id = p_thread));
end $$;

-- Creates a command and its bot, which joins no thread and is in no directory. Only later messages run the command.
-- `p_thread` is null for all threads.
-- Returns: the command.
-- Fails: PY404 thread_not_found; PY409 word_taken; PY422 too_many_commands, when there are `p_count_max`.
-- Locks: the commands (command_lock)
create or replace function command_create(
    p_actor text, p_request text, p_admin_key uuid, p_command uuid, p_user uuid, p_word text, p_url text, p_description text, p_name text,
    p_image text, p_thread uuid, p_secret bytea, p_count_max int
) returns text
language plpgsql volatile as $$
begin
    lock table command_lock in share update exclusive mode;
    if p_thread is not null and not exists (select from threads t where t.id = p_thread) then
        perform refuse_unknown('thread');
    elsif exists (select from commands c where c.word = p_word) then
        perform refuse(409, 'word_taken',
            'There is a command with this word already. Choose another word, or delete that command first.');
    elsif (select count(*) from commands) >= p_count_max then
        perform refuse(422, 'too_many_commands',
            format('There are %s commands already, which is the limit. Delete one first.', p_count_max));
    end if;
    perform account_insert(p_user, null, null, p_name, '{}', null, true, p_image);
    insert into commands (id, word, url, description, thread_id, user_id, secret, since_pos, created_at)
    values (p_command, p_word, p_url, p_description, p_thread, p_user, p_secret, command_begin(), stamp());
    perform audit_note(p_actor, p_request, p_admin_key, 'command.create', p_user, p_thread, p_subject => p_command::text);
    return command_get(p_command);
end $$;

-- Prepares for a command that is created or enabled. While no command is enabled, no worker searches the log for
-- commands, so the search continues from the log's end.
-- Returns: the log's end. Only messages after it run the command.
-- Locks: the caller holds the commands
create or replace function command_begin() returns bigint
language plpgsql volatile as $$
begin
    if not exists (select from commands c where c.is_enabled) then
        update command_state s set epoch = log_epoch(), pos = log_head();
    end if;
    return log_head();
end $$;

-- Changes a command. Null leaves a value as it is; `p_has_description` says whether `p_description` is given. Messages
-- that wait for a command that is disabled are answered with a failure at once.
-- Returns: the command.
-- Fails: PY404 command_not_found.
-- Locks: the commands, the runs
create or replace function command_update(
    p_actor text, p_request text, p_admin_key uuid, p_command uuid, p_url text, p_has_description boolean, p_description text,
    p_enabled boolean
) returns text
language plpgsql volatile as $$
declare
    v_command commands;
    v_since bigint;
begin
    lock table command_lock in share update exclusive mode;
    select * into v_command from commands c where c.id = p_command for no key update;
    if not found then
        perform refuse_unknown('command');
    end if;
    if p_enabled and not v_command.is_enabled then
        v_since := command_begin();
    elsif not p_enabled and v_command.is_enabled then
        perform command_disable(p_command, 'admin');
    end if;
    if (p_url is not null and p_url <> v_command.url)
        or (p_has_description and p_description is distinct from v_command.description)
        or (p_enabled is not null and p_enabled <> v_command.is_enabled) then
        update commands c set url = coalesce(p_url, c.url),
            description = case when p_has_description then p_description else c.description end,
            is_enabled = coalesce(p_enabled, c.is_enabled),
            disabled_at = case when p_enabled then null else c.disabled_at end,
            disabled_reason = case when p_enabled then null else c.disabled_reason end,
            since_pos = coalesce(v_since, c.since_pos)
        where c.id = p_command;
        perform audit_note(p_actor, p_request, p_admin_key, 'command.update', p_subject => p_command::text);
    end if;
    return command_get(p_command);
end $$;

-- Disables a command. The messages that wait for it are due at once, and are answered with a failure.
-- Locks: the command's row, its runs
create or replace function command_disable(p_command uuid, p_reason text) returns void
language plpgsql volatile as $$
begin
    update commands c set is_enabled = false, disabled_at = stamp(), disabled_reason = p_reason
    where c.id = p_command and c.is_enabled;
    update command_runs r set due_at = clock_timestamp()
    where r.command_id = p_command and not r.is_running and r.due_at > clock_timestamp();
end $$;

-- Deletes a command and its runs. Its bot is not deleted, because the bot's messages remain.
-- Fails: PY404 command_not_found.
-- Locks: the commands, the command's row, its runs
create or replace function command_delete(p_actor text, p_request text, p_admin_key uuid, p_command uuid) returns void
language plpgsql volatile as $$
declare
    v_command commands;
begin
    lock table command_lock in share update exclusive mode;
    delete from commands c where c.id = p_command returning c.* into v_command;
    if not found then
        perform refuse_unknown('command');
    end if;
    delete from command_runs r where r.command_id = p_command;
    perform audit_note(p_actor, p_request, p_admin_key, 'command.delete', v_command.user_id, v_command.thread_id,
        p_subject => p_command::text);
end $$;

-- Gives a command a new secret. The present one also signs for `p_both_s` seconds, and older ones no longer do.
-- Returns: the command.
-- Fails: PY404 command_not_found.
-- Locks: the command's row
create or replace function command_rotate(
    p_actor text, p_request text, p_admin_key uuid, p_command uuid, p_secret bytea, p_both_s int,
    p_now timestamptz default clock_timestamp()
) returns text
language plpgsql volatile as $$
begin
    update commands c set former_secret = c.secret, former_until = p_now + make_interval(secs => p_both_s),
        secret = p_secret
    where c.id = p_command;
    if not found then
        perform refuse_unknown('command');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'command.rotate', p_subject => p_command::text);
    return command_get(p_command);
end $$;

-- Deletes the commands of an account that is erased, if it is a bot, and the runs of its messages.
-- Locks: for a bot with commands, the commands and their rows; the runs
create or replace function command_forget_account(p_user uuid) returns void
language plpgsql volatile as $$
declare
    v_commands uuid[] := array(select c.id from commands c where c.user_id = p_user);
begin
    if v_commands <> '{}' then
        lock table command_lock in share update exclusive mode;
        delete from commands c where c.id = any (v_commands);
        delete from command_runs r where r.command_id = any (v_commands);
    end if;
    delete from command_runs r where r.user_id = p_user;
end $$;
