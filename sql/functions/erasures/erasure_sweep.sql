-- The part of an erasure after the call (account_erase): first each of the user's threads, then the log. Runs on every
-- node. Each call locks its rows and skips rows locked by others, so nodes share the work and finish what a dead node
-- started.

-- Does a part of the work, that of deleted threads first. A call withdraws at most `p_limit` messages of one thread.
-- Returns: 1; 0 when there is nothing to do, or another session walks the log.
-- Locks: a row of erasure_threads (skipped when locked), the thread, members; or the walk (skipped when locked), the events' rows; then the log
-- Costs: three index probes when there is nothing to do
create or replace function erasure_sweep(p_limit int) returns int
language plpgsql volatile as $$
declare
    v_task erasure_threads;
begin
    if thread_delete_step(p_limit) then
        return 1;
    end if;
    -- A user leaves a thread only after its members got the erased profile.
    select * into v_task from erasure_threads t
    where t.at <= clock_timestamp()
        and not exists (select from announcements a where a.kind = 'profile' and a.subject_id = t.user_id)
    order by t.at limit 1 for update skip locked;
    if found then
        v_task := case v_task.step when 'leave' then erasure_leave(v_task) when 'notices' then erasure_notices(v_task, 1000)
            else erasure_messages(v_task, p_limit) end;
        if v_task.step is null then
            delete from erasure_threads t where t.user_id = v_task.user_id and t.thread_id = v_task.thread_id;
        else
            update erasure_threads t set step = v_task.step, seq = v_task.seq, at = greatest(v_task.at, clock_timestamp())
            where t.user_id = v_task.user_id and t.thread_id = v_task.thread_id;
        end if;
        return 1;
    end if;
    return erasure_walk(2000);
end $$;

-- Removes the user from the thread, without a trace in its members. Others see the user leave.
-- Locks: the thread, the members' rows, then the log
create or replace function erasure_leave(p_task erasure_threads) returns erasure_threads
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_user uuid := p_task.user_id;
    v_thread threads := thread_lock(p_task.thread_id);
    v_old members;
    v_new members;
    v_heir members;
    v_head bigint;
begin
    delete from members m where m.thread_id = v_thread.id and m.user_id = v_user returning m.* into v_old;
    delete from receipt_news n where n.thread_id = v_thread.id and n.user_id = v_user;
    delete from message_hides h where h.thread_id = v_thread.id and h.user_id = v_user;
    if v_thread.kind = 'direct' and v_old.status is not null then
        update members m set blocked = null, blocks = null where m.thread_id = v_thread.id and (m.blocked or m.blocks);
    end if;
    if v_old.status in ('joined', 'invited') then
        v_new := v_old;
        v_new.status := 'left';
        v_new.role := 'member';
        if v_old.status = 'joined' then
            update threads t set member_count = t.member_count - 1 where t.id = v_thread.id returning t.* into v_thread;
        end if;
        if v_old.role = 'owner' then
            v_heir := member_hand_on(v_thread.id);
        end if;
        perform undelivered_recheck(v_thread.id);
        v_head := log_begin();
        v_head := member_log(v_head, v_now, v_thread, v_new, case v_old.status when 'joined' then 'ends' else 'none' end,
            v_user);
        if v_heir.status is not null then
            v_head := member_log(v_head, v_now, v_thread, v_heir, 'none', null);
        end if;
        if v_old.status = 'joined' and v_thread.kind = 'group' then
            v_head := system_message(v_head, v_now, v_thread.id, member_news('left', v_user, v_user));
        end if;
        perform log_announce(v_head);
    end if;
    p_task.step := 'notices';
    return p_task;
end $$;

-- Removes the user's name from the thread's system messages, and the user's marks, some at a time.
create or replace function erasure_notices(p_task erasure_threads, p_limit int) returns erasure_threads
language plpgsql volatile as $$
declare
    v_marks tid[] := array(select r.ctid from receipt_marks r
        where r.thread_id = p_task.thread_id and r.user_id = p_task.user_id limit p_limit);
    -- The same condition as the partial index messages_uncounted has.
    v_seqs bigint[] := array(select m.seq from messages m where m.thread_id = p_task.thread_id and m.seq > p_task.seq
        and (m.deleted_at is not null or (m.sender_id is null and m.counts is null)) order by m.seq limit p_limit);
begin
    delete from receipt_marks r where r.ctid = any (v_marks);
    perform hold_keep_notices(p_task.thread_id, v_seqs, p_task.user_id);
    update messages m set payload = erasure_text(m.payload::text, p_task.user_id)::json
    where m.thread_id = p_task.thread_id and m.seq = any (v_seqs) and m.type = 'system'
        and strpos(m.payload::text, p_task.user_id::text) > 0;
    p_task.seq := coalesce(v_seqs[cardinality(v_seqs)], p_task.seq);
    if cardinality(v_seqs) < p_limit and cardinality(v_marks) < p_limit then
        p_task.step := case when (select e.erases_messages from erasures e where e.user_id = p_task.user_id) then 'messages' end;
        p_task.seq := 0;
    end if;
    return p_task;
end $$;

-- Makes tombstones of the user's messages in the thread, `p_limit` at a time.
-- Locks: the thread, then the log
create or replace function erasure_messages(p_task erasure_threads, p_limit int) returns erasure_threads
language plpgsql volatile as $$
declare
    v_messages messages[];
begin
    perform thread_lock(p_task.thread_id);
    v_messages := array(select m from messages m
        where sender_key(m.sender_id, m.thread_id) = sender_key(p_task.user_id, p_task.thread_id)
            and m.seq::int > p_task.seq::int and sender_is(m, p_task.user_id, p_task.thread_id) and m.deleted_at is null
        order by m.seq::int limit p_limit);
    if cardinality(v_messages) > 0 then
        perform report_forget(array(select x.thread_id from unnest(v_messages) x), array(select x.seq from unnest(v_messages) x),
            true);
        perform message_tombstone(v_messages, stamp(), null, 'erased');
        p_task.seq := v_messages[cardinality(v_messages)].seq;
    end if;
    if cardinality(v_messages) < p_limit then
        if exists (select from search_stale s where s.thread_id = p_task.thread_id) then
            -- A pass of the search index was running here. The next pass deletes the words; wait for it.
            p_task.at := clock_timestamp() + interval '1 s';
        else
            p_task.step := null;
        end if;
    end if;
    return p_task;
end $$;

-- Ends erasures. Only the nodes' memory may still name the users; an event makes the nodes drop it.
-- Locks: the log
create or replace function erasure_end(p_users uuid[]) returns void
language plpgsql volatile as $$
declare
    v_head bigint;
begin
    perform idempotency_forget(p_users);
    delete from membership_spans s where s.user_id = any (p_users);
    delete from erasures e where e.user_id = any (p_users);
    v_head := log_begin();
    -- For the nodes alone: no user has this id.
    insert into events (pos, at, type, user_id, withdraws, body)
    values (v_head + 1, stamp(), 'message.withdrawn', '00000000-0000-0000-0000-000000000000', v_head,
        event_json('message.withdrawn', null, stamp(), '{}'));
    perform log_announce(v_head + 1);
end $$;
