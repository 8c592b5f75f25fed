-- What an archive has. All functions have the same filters; null is no filter:
--   p_user            the account, its threads with their members, and the messages that it sent
--   p_thread          the thread, its members, and all in it
--   p_since, p_until  of messages: created at `p_since` or later, and before `p_until`

-- Returns: the threads of the archive in the order of their ids, with the first and the last seq that the filters allow.
-- Costs: an index probe a thread; with times, one to forty
create or replace function archive_threads(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid, first_seq bigint, last_seq bigint)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select s.id, case when p_since is null then 1::bigint else archive_seq_at(s.id, p_since) end,
        case when p_until is null then 9223372036854775807::bigint else archive_seq_at(s.id, p_until) - 1 end
    from (
        select t.id from threads t where p_user is null and (p_thread is null or t.id = p_thread)
        union all
        select m.thread_id from members m
        where p_user is not null and m.user_id = p_user and (p_thread is null or m.thread_id = p_thread)
    ) s order by s.id;
end $$;

-- Returns: the first seq of a thread whose message was created at a time or later; one after the head without any. The
-- times in a thread never decrease.
-- Costs: two index probes where all messages are on one side, otherwise one for each binary digit of the head
create or replace function archive_seq_at(p_thread uuid, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_low bigint := 1;
    v_high bigint;
    v_middle bigint;
    v_at timestamptz;
begin
    select m.seq, m.created_at into v_high, v_at from messages m where m.thread_id = p_thread order by m.seq desc limit 1;
    if v_at is null or v_at < p_at then
        return coalesce(v_high, 0) + 1;
    end if;
    while v_low < v_high loop
        v_middle := (v_low + v_high) / 2;
        if (select m.created_at from messages m where m.thread_id = p_thread and m.seq >= v_middle
            order by m.seq limit 1) >= p_at then
            v_high := v_middle;
        else
            v_low := v_middle + 1;
        end if;
    end loop;
    return v_low;
end $$;

-- Returns: the ids of all accounts that a filtered archive names, in their order.
-- Costs: an index probe for each message with reactions or attachments, otherwise a walk through the messages
create or replace function archive_people(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    with scope as materialized (
        select * from archive_threads(p_user, p_thread, p_since, p_until)
    ), sent as materialized (
        select m.thread_id, m.seq, m.sender_id, m.mentions, m.reacted
        from scope s cross join lateral (select x.thread_id, x.seq, x.sender_id, x.mentions, x.reacted from messages x
            where x.thread_id = s.id and x.seq between s.first_seq and s.last_seq
                and (p_user is null or x.sender_id = p_user) order by x.seq) m
        where m.sender_id is distinct from p_user or m.mentions <> '{}' or m.reacted
    ), named (id) as (
        select p_user
        union select t.direct_low from scope s join threads t on t.id = s.id
        union select t.direct_high from scope s join threads t on t.id = s.id
        union select m.user_id from scope s join members m on m.thread_id = s.id
        union select m.invited_by from scope s join members m on m.thread_id = s.id
        union select m.sender_id from sent m
        union select n.id from sent m cross join lateral unnest(m.mentions) n (id)
        union select r.user_id from sent m
            join message_reactions r on r.thread_id = m.thread_id and r.seq = m.seq where m.reacted
        union select b.blocked_id from blocks b where b.user_id = p_user and p_thread is null
        union select a.owner_id from archive_message_files(p_user, p_thread, p_since, p_until) f
            join attachments a on a.id = f.id and a.state = 2
    )
    select n.id from named n where n.id is not null
    -- The picture of a thread or of a profile is its owner's, or another's who was here once.
    union
    select a.owner_id from named n join attachment_uses u on u.holder_id = n.id and u.seq = 0 and u.kind = 'profile'
        join attachments a on a.id = u.attachment_id
    union
    select a.owner_id from scope s join attachment_uses u on u.holder_id = s.id and u.seq = 0 and u.kind = 'thread'
        join attachments a on a.id = u.attachment_id
    order by 1;
end $$;

-- Returns: the attachments of the archive's messages and of their earlier versions.
create or replace function archive_message_files(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select distinct u.attachment_id
    from archive_threads(p_user, p_thread, p_since, p_until) s
    join attachment_uses u on u.holder_id = s.id and u.seq between s.first_seq and s.last_seq and u.kind = 'message'
    where p_user is null or (select m.sender_id from messages m where m.thread_id = u.holder_id
        and m.seq between u.seq and u.seq order by m.seq limit 1) = p_user;
end $$;

-- Returns: the ids of the ready attachments that messages, threads and accounts of a filtered archive use, in their
-- order.
create or replace function archive_files(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid)
language plpgsql stable
set plan_cache_mode = force_custom_plan
as $$
begin
    return query
    select f.id from archive_message_files(p_user, p_thread, p_since, p_until) f
    union
    select u.attachment_id from archive_threads(p_user, p_thread, p_since, p_until) s
        join attachment_uses u on u.holder_id = s.id and u.seq = 0 and u.kind = 'thread'
    union
    select u.attachment_id from archive_accounts(p_user, p_thread, p_since, p_until) n
        join attachment_uses u on u.holder_id = n.id and u.seq = 0 and u.kind = 'profile'
    order by 1;
end $$;

-- Returns: the ids of all accounts of an archive, in their order. Without a user or a thread: of all accounts.
create or replace function archive_accounts(p_user uuid, p_thread uuid, p_since timestamptz, p_until timestamptz)
returns table (id uuid)
language plpgsql stable as $$
begin
    if p_user is null and p_thread is null then
        return query select u.id from users u order by u.id;
    else
        return query select n.id from archive_people(p_user, p_thread, p_since, p_until) n;
    end if;
end $$;
