-- What is left of an erasure after the call (account_erase): first each of the user's threads, then the log. Any number of
-- nodes may call this at the same time: each takes what no other has in hand, and who dies leaves it to the next.

-- Does a part of it, and gives 1; 0 when there is nothing to be done. Costs then two index probes. `p_limit` is how many
-- messages of one thread a call withdraws; of what is quickly looked at it takes more.
-- locks: a row of erasure_threads or erasures (skipped when taken), the thread, members, the search index's state, the log
create or replace function erasure_sweep(p_limit int) returns int
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_task erasure_threads;
    v_erasure erasures;
begin
    -- Nobody is taken out of a thread before its members know of the erased profile.
    select * into v_task from erasure_threads t
    where not exists (select from announcements a where a.kind = 'profile' and a.subject_id = t.user_id)
    order by t.at limit 1 for update skip locked;
    if found then
        v_task := case v_task.step when 'leave' then erasure_leave(v_task) when 'notices' then erasure_notices(v_task, 1000)
            else erasure_messages(v_task, p_limit) end;
        if v_task.step is null then
            delete from erasure_threads t where t.user_id = v_task.user_id and t.thread_id = v_task.thread_id;
        else
            update erasure_threads t set step = v_task.step, seq = v_task.seq, at = clock_timestamp()
            where t.user_id = v_task.user_id and t.thread_id = v_task.thread_id;
        end if;
        return 1;
    end if;
    select * into v_erasure from erasures e
    where not exists (select from erasure_threads t where t.user_id = e.user_id)
    order by e.user_id limit 1 for update skip locked;
    if not found then
        return 0;
    end if;
    perform erasure_log(v_erasure, 2000);
    return 1;
end $$;

-- Takes the user out of the thread, without a trace in its members. Others are told as if they had left.
-- locks: the thread, the members' rows, then the log
create or replace function erasure_leave(p_task erasure_threads) returns erasure_threads
language plpgsql volatile
set enable_seqscan = off
as $$
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
    if v_thread.kind = 'direct' then
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
        v_head := member_log(v_head, v_now, v_thread, v_new, case v_old.status when 'joined' then 'ends' else 'none' end);
        if v_heir.status is not null then
            v_head := member_log(v_head, v_now, v_thread, v_heir, 'none');
        end if;
        if v_old.status = 'joined' and v_thread.kind = 'group' then
            v_head := system_message(v_head, v_now, v_thread.id, member_news('left', v_user, v_user));
        end if;
        perform log_announce(v_head);
    end if;
    p_task.step := 'notices';
    return p_task;
end $$;

-- Takes the user's name out of what the service itself has written into the thread, and their marks, some at a time.
create or replace function erasure_notices(p_task erasure_threads, p_limit int) returns erasure_threads
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_marks tid[] := array(select r.ctid from receipt_marks r
        where r.thread_id = p_task.thread_id and r.user_id = p_task.user_id limit p_limit);
    -- As the partial index of what doesn't count as unread has it.
    v_seqs bigint[] := array(select m.seq from messages m where m.thread_id = p_task.thread_id and m.seq > p_task.seq
        and (m.deleted_at is not null or m.sender_id is null) order by m.seq limit p_limit);
begin
    delete from receipt_marks r where r.ctid = any (v_marks);
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

-- Makes tombstones of what the user has said in the thread, `p_limit` messages at a time.
-- locks: the thread, the search index's state, then the log
create or replace function erasure_messages(p_task erasure_threads, p_limit int) returns erasure_threads
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_messages messages[];
begin
    perform thread_lock(p_task.thread_id);
    v_messages := array(select m from messages m
        where m.sender_id = p_task.user_id and m.thread_id = p_task.thread_id and m.seq > p_task.seq and m.deleted_at is null
        order by m.seq limit p_limit);
    if cardinality(v_messages) > 0 then
        perform message_bury(v_messages, stamp());
        p_task.seq := v_messages[cardinality(v_messages)].seq;
    end if;
    if cardinality(v_messages) < p_limit then
        p_task.step := null;
    end if;
    return p_task;
end $$;

-- Takes the user's name out of the next `p_limit` events of the log, and at its end makes the nodes forget what they have
-- of it. By now nobody can write it any more: each thread has been locked since, and who isn't in one yet is checked.
-- locks: the events' rows, at the end the log
create or replace function erasure_log(p_erasure erasures, p_limit int) returns void
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_user uuid := p_erasure.user_id;
    v_count int;
    v_last bigint;
    v_head bigint;
begin
    select count(*), max(x.pos) into v_count, v_last
    from (select e.pos from events e where e.pos > p_erasure.pos order by e.pos limit p_limit) x;
    -- What concerns the user alone is read by nobody any more; only the places in the log must stay.
    update events e set body = case e.user_id when v_user then event_json(e.type, e.thread_id, e.at, '{}')
        else erasure_event(e.type, e.body, v_user) end
    where e.pos > p_erasure.pos and e.pos <= v_last and (e.user_id = v_user or strpos(e.body, v_user::text) > 0);
    if v_count = p_limit then
        update erasures e set pos = v_last where e.user_id = v_user;
        return;
    end if;
    delete from membership_spans s where s.user_id = v_user;
    delete from erasures e where e.user_id = v_user;
    v_head := log_begin();
    -- For the nodes, and for nobody else.
    insert into events (pos, at, type, user_id, withdraws, body)
    values (v_head + 1, stamp(), 'message.withdrawn', '00000000-0000-0000-0000-000000000000', v_head,
        event_json('message.withdrawn', null, stamp(), '{}'));
    perform log_announce(v_head + 1);
end $$;

-- An event's JSON without the user's name; of a direct thread with them also without its title and image, which are theirs.
create or replace function erasure_event(p_type text, p_body text, p_user uuid) returns text
language plpgsql immutable as $$
declare
    v_body text := p_body;
begin
    if p_type = 'thread.created' and v_body ~ ('"peer" ?: ?\{"id" ?: ?"' || p_user || '"') then
        v_body := regexp_replace(v_body, '"title" ?: ?"(?:[^"\\]|\\.)*"', '"title": "' || erased_name() || '"');
        v_body := regexp_replace(v_body, '"image" ?: ?"(?:[^"\\]|\\.)*"', '"image": null');
    end if;
    return erasure_text(v_body, p_user);
end $$;

-- JSON text in which each object that begins with the user's id has the erased name, and nulls for what else it said of
-- them. By text, because that keeps all the rest as it is, a payload's numbers and all. `{"id"` is never inside a string,
-- where quotes are escaped; so what follows is read from an object's beginning, and only its simple members.
create or replace function erasure_text(p_text text, p_user uuid) returns text
language plpgsql immutable as $$
declare
    v_text text := p_text;
    v_found text;
    v_string constant text := '"(?:[^"\\]|\\.)*"';
begin
    for v_found in
        select distinct f.piece[1]
        from regexp_matches(p_text, '(\{"id" ?: ?"' || p_user || '"(?:, ?"[a-z_]+" ?: ?(?:' || v_string || '|null))+)', 'g') f (piece)
    loop
        v_text := replace(v_text, v_found, regexp_replace(regexp_replace(v_found,
            '"name" ?: ?' || v_string, '"name":"' || erased_name() || '"'),
            '"(username|profile_image|status_text|last_seen_at|presence)" ?: ?' || v_string, '"\1":null', 'g'));
    end loop;
    return v_text;
end $$;
