-- What is left of an erasure after the call (account_erase): first each of the user's threads, then the log. Any number of
-- nodes may call this at the same time: each takes what no other has in hand, and who dies leaves it to the next.

-- Does a part of it, and gives 1; 0 when there is nothing to be done, or another session walks the log. Costs then two
-- index probes. `p_limit` is how many messages of one thread a call withdraws; of what is quickly looked at it takes more.
-- locks: a row of erasure_threads (skipped when taken), the thread, members; or the walk (advisory, skipped when taken), the
-- events' rows; then the log
create or replace function erasure_sweep(p_limit int) returns int
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_task erasure_threads;
begin
    -- Nobody is taken out of a thread before its members know of the erased profile.
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
-- locks: the thread, then the log
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
        if exists (select from search_stale s where s.thread_id = p_task.thread_id) then
            -- A pass of the search index was at work here. It isn't over before the next one has deleted the words.
            p_task.at := clock_timestamp() + interval '1 s';
        else
            p_task.step := null;
        end if;
    end if;
    return p_task;
end $$;

-- Takes names out of the next `p_limit` events of the log, of all users together whose threads are done: one walk serves
-- up to 100 of them. Each has a position of their own to begin at (account_erase). Those that the walk has yet to come to join
-- it; those that it has passed wait for the next walk. By now nobody can write the names any more: each thread has been locked
-- since, and who isn't in one yet is checked. Gives 1, or 0 when there is nothing to walk for or another session walks.
-- locks: the walk (advisory, skipped when taken), the events' rows, at the end the log
drop function if exists erasure_log(erasures, int);
create or replace function erasure_walk(p_limit int) returns int
language plpgsql volatile
set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
    v_count_max constant int := 100;
    v_from bigint;
    -- The next position at which others join.
    v_next bigint;
    v_last bigint;
    v_is_end boolean;
    v_users uuid[];
begin
    if not pg_try_advisory_xact_lock(7266009) then
        return 0;
    end if;
    v_from := (select min(e.pos) from erasures e where e.walks);
    update erasures e set walks = true
    where e.user_id = any (array(
        select x.user_id from erasures x
        where not x.walks and (v_from is null or x.pos >= v_from)
            and not exists (select from erasure_threads t where t.user_id = x.user_id)
        order by x.pos limit greatest(0, v_count_max - (select count(*) from erasures y where y.walks))));
    v_from := (select min(e.pos) from erasures e where e.walks);
    if v_from is null then
        return 0;
    end if;
    v_users := array(select e.user_id from erasures e where e.walks and e.pos = v_from);
    v_next := (select min(e.pos) from erasures e where e.walks and e.pos > v_from);
    select max(x.pos), count(*) < p_limit into v_last, v_is_end
    from (select e.pos from events e where e.pos > v_from order by e.pos limit p_limit) x;
    if v_next <= v_last then
        v_last := v_next;
        v_is_end := false;
    end if;
    -- What concerns one of them alone is read by nobody any more; only the places in the log must stay.
    update events e set body = case when e.user_id = any (v_users) then event_json(e.type, e.thread_id, e.at, '{}')
        else erasure_event(e.type, e.body, v_users) end
    where e.pos > v_from and e.pos <= v_last and (e.user_id = any (v_users) or erasure_concerns(e.body, v_users::text[]));
    if v_is_end then
        perform erasure_end(v_users);
    else
        update erasures e set pos = v_last where e.user_id = any (v_users);
    end if;
    return 1;
end $$;

-- Whether the JSON names one of the users. Costs 1 µs for each of them; a regular expression of all takes twice that.
create or replace function erasure_concerns(p_body text, p_users text[]) returns boolean
language plpgsql immutable as $$
declare
    v_user text;
begin
    foreach v_user in array p_users loop
        if strpos(p_body, v_user) > 0 then
            return true;
        end if;
    end loop;
    return false;
end $$;

-- Ends erasures: nothing names the users any more but what the nodes have in memory, which they are told to forget.
-- locks: the log
create or replace function erasure_end(p_users uuid[]) returns void
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_head bigint;
begin
    delete from membership_spans s where s.user_id = any (p_users);
    delete from erasures e where e.user_id = any (p_users);
    v_head := log_begin();
    -- For the nodes, and for nobody else.
    insert into events (pos, at, type, user_id, withdraws, body)
    values (v_head + 1, stamp(), 'message.withdrawn', '00000000-0000-0000-0000-000000000000', v_head,
        event_json('message.withdrawn', null, stamp(), '{}'));
    perform log_announce(v_head + 1);
end $$;

-- An event's JSON without the names of those of the users that it names.
create or replace function erasure_event(p_type text, p_body text, p_users uuid[]) returns text
language plpgsql immutable as $$
declare
    v_body text := p_body;
    v_user uuid;
begin
    foreach v_user in array p_users loop
        if strpos(v_body, v_user::text) > 0 then
            v_body := erasure_event_user(p_type, v_body, v_user);
        end if;
    end loop;
    return v_body;
end $$;

-- An event's JSON without the user's name; of a direct thread with them also without its title and image, which are theirs.
drop function if exists erasure_event(text, text, uuid);
create or replace function erasure_event_user(p_type text, p_body text, p_user uuid) returns text
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
