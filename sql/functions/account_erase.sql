-- Erasing an account. The call takes away what it is known and signs in by, and ends its sessions; what is a matter of its
-- threads, its messages and the log is done by the nodes afterwards, a part at a time (erasure_sweep.sql).

-- Whoever is called so. The row stays, for the messages that do, so that this is shown wherever a sender is.
create or replace function erased_name() returns text
language sql immutable parallel safe as $$
    select 'Deleted user'
$$;

-- Raises unless all of them are accounts that weren't erased. Call it with the log's lock held, where somebody is put into
-- a thread: what the erasure sees to is what was written before it.
create or replace function account_check(p_users uuid[]) returns void
language plpgsql volatile
set enable_seqscan = off
as $$
begin
    if exists (select from users u where u.id = any (p_users) and u.erased_at is not null) then
        perform user_refuse();
    end if;
end $$;

-- Erases the account, and gives its sessions, which have ended. `p_erases_messages`: what it has said goes, too, as if
-- deleted for everyone; else it stays, from "Deleted user". The username may be taken again.
-- Costs a look at each of the account's threads.
-- Fails: PY404 user_not_found (also when it was erased already).
-- locks: what is kept of the mail address, presence of the user, the user's row, the announcement, its sessions, then the
-- log
create or replace function account_erase(p_user uuid, p_erases_messages boolean) returns uuid[]
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_now timestamptz := stamp();
    v_user users;
    v_sessions uuid[];
    v_head bigint;
begin
    perform mail_forget(p_user);
    delete from presence p where p.user_id = p_user;
    update users u set username = null, username_key = null, name = erased_name(), profile_image = null, status_text = null,
        preferences = '{}', password_hash = null, external_id = null, last_seen_at = null, suspended_at = null,
        erased_at = v_now
    where u.id = p_user and u.erased_at is null
    returning u.* into v_user;
    if not found then
        perform user_refuse();
    end if;
    -- Before account_sign_out, which takes the log's lock.
    perform announcement_begin('profile', p_user);
    perform account_forget(p_user);
    -- No event before the account was made names it. The minute is for the order of the log, which is that of the commits.
    insert into erasures (user_id, erases_messages, pos)
    values (p_user, p_erases_messages, log_pos_at(v_user.created_at - interval '1 minute') - 1);
    insert into erasure_threads (user_id, thread_id, at)
    select m.user_id, m.thread_id, v_now from members m where m.user_id = p_user;
    v_sessions := account_sign_out(p_user);

    v_head := log_begin();
    perform log_announce(announcement_write('profile', p_user, null, v_head, v_now, announcement_limit()));
    return v_sessions;
end $$;

-- Everything else that is kept of an account by itself, and of no thread. What a new table keeps of one goes here.
create or replace function account_forget(p_user uuid) returns void
language plpgsql volatile
set enable_seqscan = off
as $$
begin
    delete from user_words w where w.user_id = p_user;
    delete from blocks b where b.user_id = p_user;
    delete from blocks b where b.blocked_id = p_user;
    delete from thread_counts c where c.user_id = p_user;
end $$;

-- Ends all sessions of an account, and gives them. Who signs in at the same time waits for the user's row (session_create).
-- locks: as session_end; the user's row must be locked
create or replace function account_sign_out(p_user uuid) returns uuid[]
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_sessions uuid[] := array(select s.id from sessions s where s.user_id = p_user order by s.id for update);
begin
    perform session_end(v_sessions);
    return v_sessions;
end $$;
