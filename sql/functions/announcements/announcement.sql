-- Events about one thing that concern people in many threads, or many invited people of one thread: a new profile, a
-- new title. The change itself writes the first part. A worker of any node writes the rest in parts, each in its own
-- transaction, so the log's lock is held for one part at most. The progress of an announcement is in its row and
-- commits with the part: after a crash it continues there. Each part shows the newest state, and a change meanwhile
-- starts again, so everybody gets the newest state last.

-- Returns: how many events a part has. With 200 the log's lock is held for a few milliseconds.
create or replace function announcement_limit() returns int
language sql immutable as $$
    select 200
$$;

-- Begins an announcement, or starts it again. Call it before log_begin.
--   p_kind   profile: a user's profile, to people who share a thread; thread: a thread's title, image or retention, to
--            invited people
-- Locks: the announcement (always before the log)
create or replace function announcement_begin(p_kind text, p_subject uuid) returns void
language sql volatile as $$
    insert into announcements (kind, subject_id, at) values (p_kind, p_subject, stamp())
    on conflict (kind, subject_id) do update set after_id = null, at = excluded.at
$$;

-- Writes the next part of an announcement, and deletes its row after the last part.
-- Returns: the last position written.
-- Locks: the caller holds the announcement's row and the log's lock
create or replace function announcement_write(
    p_kind text, p_subject uuid, p_after uuid, p_head bigint, p_now timestamptz, p_limit int
) returns bigint
language plpgsql volatile as $$
declare
    v_part record;
begin
    if p_kind = 'profile' then
        select * into v_part from profile_write(p_subject, p_after, p_head, p_now, p_limit);
    else
        select * into v_part from invited_write(p_subject, p_after, p_head, p_now, p_limit);
    end if;
    if v_part.next_id is null then
        delete from announcements a where a.kind = p_kind and a.subject_id = p_subject;
    else
        update announcements a set after_id = v_part.next_id, at = p_now
        where a.kind = p_kind and a.subject_id = p_subject;
    end if;
    return v_part.head;
end $$;

-- Writes the next part of the announcement that has waited longest and that no other node is writing.
-- Returns: false if there is none.
-- Locks: the announcement, then the log
create or replace function announcement_continue() returns boolean
language plpgsql volatile as $$
declare
    v_job announcements;
    v_now timestamptz;
    v_head bigint;
    v_last bigint;
begin
    select * into v_job from announcements a order by a.at limit 1 for update skip locked;
    if not found then
        return false;
    end if;
    v_now := stamp();
    v_head := log_begin();
    v_last := announcement_write(v_job.kind, v_job.subject_id, v_job.after_id, v_head, v_now, announcement_limit());
    if v_last > v_head then
        perform log_announce(v_last);
    end if;
    return true;
end $$;

-- Writes the user's profile to people who share a thread, from the threads after `p_after`. A part ends with the
-- thread that reaches `p_limit` events, or with `p_limit` threads.
-- Returns: the last position written, and the thread to continue after; null: there is no more.
create or replace function profile_write(p_user uuid, p_after uuid, p_head bigint, p_now timestamptz, p_limit int)
returns table (head bigint, next_id uuid)
language plpgsql volatile as $$
declare
    v_profile text := (select user_json(u)::text from users u where u.id = p_user);
    v_threads uuid[] := array(select m.thread_id from members m
        where m.user_id = p_user and m.thread_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
        order by m.thread_id limit p_limit + 1);
    v_count int;
begin
    with audience as (
        select a.thread_id, a.user_id, row_number() over (order by a.thread_id, a.user_id) as place,
            rank() over (order by a.thread_id) as first_place
        from account_audience(p_user, v_threads[1:p_limit]) a
    ), written as (
        insert into events (pos, at, type, thread_id, user_id, is_change, body)
        select p_head + a.place, p_now, 'user.updated', a.thread_id, a.user_id, false,
            event_json('user.updated', a.thread_id, p_now, v_profile)
        from audience a where a.first_place <= p_limit
        returning thread_id
    )
    select count(*), case when (select count(*) from audience) > count(*) then max(w.thread_id::text)::uuid end
    into v_count, next_id from written w;
    head := p_head + v_count;
    -- The limit was not reached: the part ends with the last of its threads.
    if next_id is null and cardinality(v_threads) > p_limit then
        next_id := v_threads[p_limit];
    end if;
    return next;
end $$;

-- Writes the thread's present state to its invited people after `p_after`, at most `p_limit` of them. They do not
-- receive what is published to members.
-- Returns: as profile_write.
create or replace function invited_write(p_thread uuid, p_after uuid, p_head bigint, p_now timestamptz, p_limit int)
returns table (head bigint, next_id uuid)
language plpgsql volatile as $$
declare
    v_body text := (select event_json('thread.updated', t.id, p_now, thread_json(t)::text) from threads t where t.id = p_thread);
    v_invited uuid[] := array(select m.user_id from members m
        where m.thread_id = p_thread and m.status = 'invited'
            and m.user_id > coalesce(p_after, '00000000-0000-0000-0000-000000000000')
        order by m.user_id limit p_limit);
begin
    insert into events (pos, at, type, thread_id, user_id, body)
    select p_head + i.place, p_now, 'thread.updated', p_thread, i.user_id, v_body
    from unnest(v_invited) with ordinality i (user_id, place);
    head := p_head + cardinality(v_invited);
    if cardinality(v_invited) = p_limit then
        next_id := v_invited[p_limit];
    end if;
    return next;
end $$;

-- Returns: for each of `p_threads`, which the user has or had: the users who get a new profile. All members (`user_id`
-- is null) where the user is a member, or was one and sent a message. Outside of that: the other person of a direct
-- thread that only one of the two has joined, and the people whom the user invited. Nobody in threads of more than 100
-- members.
-- Costs: one or two index probes a thread
create or replace function account_audience(p_user uuid, p_threads uuid[]) returns table (thread_id uuid, user_id uuid)
language plpgsql stable as $$
begin
    return query
    select t.id, x.user_id
    from unnest(p_threads) g (id)
    cross join lateral (select n.status from members n where n.user_id = p_user and n.thread_id = g.id limit 1) m
    join threads t on t.id = g.id and t.member_count <= 100
    cross join lateral (
        select null::uuid as user_id
        where case when m.status = 'joined' then t.member_count > 1 else t.member_count > 0 and (select s.seq from messages s
            where sender_key(s.sender_id, s.thread_id) = sender_key(p_user, t.id)
                and sender_is(s, p_user, t.id) order by s.seq::int limit 1) is not null end
        union all
        (select o.user_id from members o
        where o.thread_id = t.id and o.user_id <> p_user and t.kind = 'direct' and t.member_count = 1
            and o.status in ('joined', 'invited'))
        union all
        (select i.user_id from members i
        where i.thread_id = t.id and i.status = 'invited' and i.invited_by = p_user and t.kind <> 'direct' limit 100)
    ) x;
end $$;
