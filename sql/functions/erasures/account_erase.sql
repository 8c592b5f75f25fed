-- Erasing an account. The call deletes how the account is known and signs in, and ends its sessions. Nodes do the rest
-- afterwards, a part at a time: its threads, its messages and the log (erasure_sweep.sql).

-- Returns: the name of an erased account. The row stays for the messages that stay; so this is shown wherever a sender
-- is shown.
create or replace function erased_name() returns text
language sql immutable parallel safe as $$
    select 'Deleted user'
$$;

-- Fails: PY404 user_not_found unless all of them are accounts that were not erased.
-- Locks: the caller holds the log's lock and is about to add people to a thread; an erasure handles what was written
-- before it
create or replace function account_check(p_users uuid[]) returns void
language plpgsql volatile as $$
begin
    if exists (select from users u where u.id = any (p_users) and u.erased_at is not null) then
        perform refuse_unknown('user');
    end if;
end $$;

-- Erases the account. With `p_erases_messages` its messages are deleted for everyone; otherwise they stay, from
-- "Deleted user". The username is free again.
-- Returns: the sessions that ended.
-- Fails: PY404 user_not_found (also when it was erased before).
-- Locks: the mail address's rows, the user's presence, the holds (hold_enter), the user's row, the announcement, the
-- attachments by id, its sessions, then the log
-- Costs: a look at each of the account's threads
create or replace function account_erase(p_user uuid, p_erases_messages boolean) returns uuid[]
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_user users;
    v_sessions uuid[];
    v_head bigint;
begin
    perform mail_forget(p_user);
    delete from presence p where p.user_id = p_user;
    perform hold_keep_account(p_user);
    update users u set username = null, username_key = null, name = erased_name(), profile_image = null, status_text = null,
        preferences = '{}', custom = null, password_hash = null, external_id = null, last_seen_at = null, suspended_at = null,
        erased_at = v_now
    where u.id = p_user and u.erased_at is null
    returning u.* into v_user;
    if not found then
        perform refuse_unknown('user');
    end if;
    -- This comes before account_sign_out, which locks the log.
    perform announcement_begin('profile', p_user);
    perform account_forget(p_user);
    -- No event from before the account was made names it. A minute is added: the log is in the order of commits.
    insert into erasures (user_id, erases_messages, pos)
    values (p_user, p_erases_messages, log_pos_at(v_user.created_at - interval '1 minute') - 1);
    insert into erasure_threads (user_id, thread_id, at)
    select p_user, t.id, v_now from account_threads(p_user) t (id) order by t.id;
    delete from guest_threads g where g.user_id = p_user;
    v_sessions := account_sign_out(p_user);

    v_head := change_log(log_begin(), v_now, 'user.updated', null, null, user_json(v_user)::text);
    perform log_announce(announcement_write('profile', p_user, null, v_head, v_now, announcement_limit()));
    return v_sessions;
end $$;

-- Deletes everything else that belongs to the account alone and to no thread. Data of an account in a new table goes
-- here.
create or replace function account_forget(p_user uuid) returns void
language plpgsql volatile as $$
begin
    delete from user_words w where w.user_id = p_user;
    delete from blocks b where b.user_id = p_user;
    delete from blocks b where b.blocked_id = p_user;
    delete from thread_counts c where c.user_id = p_user;
    delete from hooks h where h.user_id = p_user;
    delete from password_resets r where r.user_id = p_user;
    perform command_forget_account(p_user);
    perform report_forget_account(p_user);
    delete from outbox_failures f where f.user_id = p_user;
    perform policy_forget_account(p_user);
    perform attachment_forget_account(p_user);
end $$;

-- Ends all sessions of an account. A simultaneous sign-in waits for the user's row (session_create).
-- Returns: the sessions that ended.
-- Locks: as session_end; the caller holds the user's row
create or replace function account_sign_out(p_user uuid) returns uuid[]
language plpgsql volatile as $$
declare
    v_sessions uuid[] := array(select s.id from sessions s where s.user_id = p_user order by s.id for update);
begin
    perform session_end(v_sessions);
    return v_sessions;
end $$;
