-- Deleting a thread for everyone. The call ends all memberships, so nobody sees the thread any more. Nodes withdraw the
-- content afterwards, some messages at a time (thread_delete_step).

-- Deletes a thread. Its members and invited people get thread.deleted. What legal holds cover is kept when its content is
-- withdrawn.
-- Fails: PY404 thread_not_found.
-- Locks: the thread, the members' counts, the attachments by id, then the log
-- Costs: a look at each member
create or replace function thread_delete(p_thread uuid) returns void
language plpgsql volatile as $$
declare
    v_thread threads := thread_lock(p_thread);
    v_now timestamptz := stamp();
    v_joined uuid[] := array(select m.user_id from members m where m.thread_id = p_thread and m.status = 'joined'
        order by m.user_id);
    v_invited uuid[] := array(select m.user_id from members m where m.thread_id = p_thread and m.status = 'invited'
        order by m.user_id);
    v_body text := event_json('thread.deleted', p_thread, v_now, json_build_object('id', p_thread)::text);
    v_head bigint;
begin
    perform thread_delete_work(v_thread);
    perform from thread_counts c where c.user_id = any (v_joined || v_invited) order by c.user_id for no key update;
    update thread_counts c set count = greatest(c.count - 1, 0) where c.user_id = any (v_joined || v_invited);
    delete from members m where m.thread_id = p_thread;
    delete from threads t where t.id = p_thread;
    insert into thread_removals (thread_id, at) values (p_thread, v_now);

    v_head := log_begin() + 1;
    -- A member sees the event with which the membership ends.
    insert into events (pos, at, type, thread_id, ends, body)
    values (v_head, v_now, 'thread.deleted', p_thread, nullif(v_joined, '{}'), v_body);
    update membership_spans s set to_pos = v_head
    where s.user_id = any (v_joined) and s.thread_id = p_thread and s.to_pos is null;
    insert into events (pos, at, type, thread_id, user_id, body)
    select v_head + n.place, v_now, 'thread.deleted', p_thread, n.id, v_body
    from unnest(v_invited) with ordinality n (id, place);
    perform log_announce(v_head + cardinality(v_invited));
end $$;

-- Deletes what workers and hooks would still do in the thread, its picture, and the messages that wait for a review.
-- Locks: the attachments by id; the caller holds the thread
create or replace function thread_delete_work(t threads) returns void
language plpgsql volatile as $$
declare
    v_files uuid[];
begin
    perform attachment_use_picture('thread', t.id, null, t.image, null, 'image');
    with gone as (
        delete from attachment_uses u using reviews r
        where r.thread_id = t.id and u.kind = 'review' and u.holder_id = r.id returning u.attachment_id
    )
    select array_agg(g.attachment_id) into v_files from gone g;
    delete from reviews r where r.thread_id = t.id;
    if v_files is not null then
        perform attachment_settle(v_files);
    end if;
    delete from hooks h where h.thread_id = t.id;
    delete from announcements a where a.kind = 'thread' and a.subject_id = t.id;
    delete from erasure_threads e where e.thread_id = t.id;
    delete from push_jobs j where j.thread_id = t.id;
    delete from receipt_news n where n.thread_id = t.id;
    delete from message_expiries e where e.thread_id = t.id;
    delete from undelivered u where u.thread_id = t.id;
    delete from undelivered_files f where f.thread_id = t.id;
    delete from undelivered_checks c where c.thread_id = t.id;
end $$;

-- Withdraws and deletes the next `p_limit` messages of a deleted thread. Runs on every node; threads that another node
-- works on are skipped.
-- Returns: whether there was something to do.
-- Locks: a row of thread_removals (skipped when locked), then as message_withdraw, then the log
-- Costs: an index probe when there is nothing to do
create or replace function thread_delete_step(p_limit int) returns boolean
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_thread uuid := (select r.thread_id from thread_removals r order by r.at limit 1 for update skip locked);
    v_messages messages[];
    v_last bigint;
    v_told bigint;
    v_head bigint;
begin
    if v_thread is null then
        return false;
    end if;
    v_messages := array(select m from messages m where m.thread_id = v_thread order by m.seq limit p_limit);
    if cardinality(v_messages) = 0 then
        perform thread_delete_rest(v_thread);
        delete from thread_removals r where r.thread_id = v_thread;
        return true;
    end if;
    v_last := (v_messages[cardinality(v_messages)]).seq;
    select max(w.told) into v_told
    from message_withdraw(array(select x from unnest(v_messages) x where x.payload is not null), v_now, 'deleted') w;
    delete from message_hides h where h.thread_id = v_thread and h.seq <= v_last;
    delete from messages m where m.thread_id = v_thread and m.seq <= v_last;
    if v_told is not null then
        v_head := log_begin() + 1;
        -- For the nodes alone, which drop the content: no user has this id.
        insert into events (pos, at, type, thread_id, user_id, withdraws, body)
        values (v_head, v_now, 'message.withdrawn', v_thread, '00000000-0000-0000-0000-000000000000', v_told,
            event_json('message.withdrawn', v_thread, v_now, '{}'));
        perform log_announce(v_head);
    end if;
    return true;
end $$;

-- Deletes what is left of a thread without messages. The spans of its memberships stay: cursors from before the deletion
-- are read by them.
create or replace function thread_delete_rest(p_thread uuid) returns void
language plpgsql volatile as $$
begin
    delete from receipt_marks r where r.thread_id = p_thread;
    delete from device_marks d where d.thread_id = p_thread;
    delete from guest_threads g where g.thread_id = p_thread;
    delete from search_backlog s where s.thread_id = p_thread;
    delete from search_stale s where s.thread_id = p_thread;
    delete from message_words w where w.thread_id = p_thread;
    delete from policy_verdicts v where v.thread_id = p_thread;
end $$;
