-- The end of a run, or its next try. Each call names the node's claim, and changes nothing if that is over.

-- Ends a run: posts the reply, if there is one, and deletes the run in the same transaction. `p_reply` is the reply's
-- id, which is made of the command's and the message's, so no second reply is ever stored. With `p_is_gone` the command
-- is disabled. If its address is no longer `p_url`, which said so, the run is due again instead.
-- Returns: whether the claim lasted. Otherwise nothing was posted.
-- Locks: with `p_is_gone` the commands; the thread, the run; with `p_is_gone` the command's row and its runs;
-- then the log
create or replace function command_settle(
    p_command uuid, p_thread uuid, p_message uuid, p_claim int, p_reply uuid, p_payload json, p_is_gone boolean,
    p_url text default null
) returns boolean
language plpgsql volatile as $$
declare
    v_bot uuid;
begin
    if p_is_gone then
        lock table command_lock in share update exclusive mode;
        if exists (select from commands c where c.id = p_command and c.url <> p_url) then
            return command_put_off(p_command, p_thread, p_message, p_claim, 0, false);
        end if;
    end if;
    perform from threads t where t.id = p_thread for no key update;
    delete from command_runs r
    where r.command_id = p_command and r.thread_id = p_thread and r.message_id = p_message and r.claim = p_claim;
    if not found then
        return false;
    end if;
    if p_is_gone then
        perform command_disable(p_command, 'gone');
    end if;
    v_bot := (select c.user_id from commands c join users u on u.id = c.user_id
        where c.id = p_command and u.suspended_at is null and u.erased_at is null);
    if p_payload is not null and v_bot is not null and (message_find(p_thread, p_reply)).seq is null then
        perform command_post(p_thread, p_reply, v_bot, p_payload, p_message);
    end if;
    return true;
end $$;

-- Appends a bot's message to the thread, of which the bot need not be a member.
-- Locks: the caller holds the thread; members' rows (unarchive_lock), then the log
create or replace function command_post(p_thread uuid, p_id uuid, p_bot uuid, p_payload json, p_reply_to uuid) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_kept record;
    v_last messages;
    v_message messages;
    v_head bigint;
    v_archived record;
begin
    select k.keep_s[1] as s, k.until_delivered[1] as until_delivered into v_kept
    from retention_of(array[p_thread], array[null]::int[]) k;
    select * into v_last from messages m where m.thread_id = p_thread order by m.seq desc limit 1;
    v_now := greatest(v_now, v_last.created_at);
    select k.threads, k.users into v_archived from unarchive_lock(array[p_thread], null, v_now) k;
    v_head := log_begin();
    insert into messages as m (thread_id, seq, id, sender_id, type, payload, reply_to, created_at, expires_at, pos,
        until_delivered)
    values (p_thread, coalesce(v_last.seq, 0) + 1, p_id, p_bot, 'message', p_payload, p_reply_to, v_now,
        v_now + v_kept.s * interval '1 second', v_head + 1, v_kept.until_delivered)
    returning m.* into v_message;
    perform message_log(v_message);
    insert into guest_threads (user_id, thread_id) values (p_bot, p_thread) on conflict do nothing;
    if v_message.expires_at is not null or v_message.until_delivered then
        perform retention_note(array[p_thread], array[p_id], array[p_bot]);
    end if;
    perform log_announce(v_head + 1);
    perform unarchive(v_archived.threads, v_archived.users, array[p_thread], array[p_id], array[p_bot], null, v_now);
end $$;

-- Puts a run off for `p_wait_ms`. With `p_is_tried` a try has failed; otherwise the node sent nothing.
-- Returns: whether the claim lasted.
-- Locks: the run
create or replace function command_put_off(
    p_command uuid, p_thread uuid, p_message uuid, p_claim int, p_wait_ms int, p_is_tried boolean,
    p_now timestamptz default clock_timestamp()
) returns boolean
language plpgsql volatile as $$
begin
    update command_runs r set is_running = false, due_at = p_now + p_wait_ms * interval '1 ms',
        tries = r.tries + p_is_tried::int, claim = r.claim + 1
    where r.command_id = p_command and r.thread_id = p_thread and r.message_id = p_message and r.claim = p_claim;
    return found;
end $$;
