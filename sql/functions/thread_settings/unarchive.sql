-- A message that alerts a member takes the thread out of the member's archive. threads.has_archived is true if a
-- member may have archived the thread, else null: sends to other threads look for nobody.

-- Locks the rows of those whom messages to these threads may alert and who have archived the thread: the first
-- `p_limit` of a thread, and those who are mentioned.
-- Returns: their threads and accounts, null without any.
-- Locks: members' rows by thread and user; the caller holds the threads
-- Costs: two index probes a thread, and one a mention. Without sorting the plan uses the index of archived threads: all
-- members of a room would be read otherwise.
create or replace function unarchive_lock(
    p_threads uuid[], p_mentions text[], p_now timestamptz, p_limit int default 100, out threads uuid[], out users uuid[])
language plpgsql volatile
set enable_sort = off
as $$
declare
    v_found record;
begin
    for v_found in
        with found as materialized (
            select t.id as thread_id, m.user_id
            from (select distinct x.id from unnest(p_threads) x (id)) t
            cross join lateral (
                (select y.user_id from members y
                    where y.thread_id = t.id and y.archived and y.status = 'joined' and y.notify is null
                        and y.muted_until is null
                    order by y.notify, y.muted_until limit p_limit)
                union all
                (select y.user_id from members y
                    where y.thread_id = t.id and y.archived and y.status = 'joined' and y.notify is null
                        and y.muted_until <= p_now
                    order by y.notify, y.muted_until limit p_limit)) m
            union
            select g.thread_id, u.id
            from unnest(p_threads, p_mentions) g (thread_id, mentions)
            cross join lateral unnest(g.mentions::uuid[]) u (id)
        )
        select f.thread_id, f.user_id from found f order by f.thread_id, f.user_id
    loop
        perform from members m
        where m.thread_id = v_found.thread_id and m.user_id = v_found.user_id and m.archived and m.status = 'joined'
        for no key update;
        if found then
            threads := threads || v_found.thread_id;
            users := users || v_found.user_id;
        end if;
    end loop;
end $$;

-- Takes threads out of the archives of those members (as unarchive_lock returns them) whom a message of these alerts,
-- and notifies their devices. A message that its batch did not store alerts nobody.
-- Locks: the log; the caller holds the threads and the members' rows
create or replace function unarchive(
    p_members uuid[], p_users uuid[], p_threads uuid[], p_ids uuid[], p_senders uuid[], p_mentions text[],
    p_now timestamptz) returns void
language plpgsql volatile as $$
declare
    v_shown members[];
    v_head bigint;
begin
    with alerted as (
        select distinct k.thread_id, k.user_id
        from unnest(p_members, p_users) k (thread_id, user_id)
        join unnest(p_threads, p_ids, p_senders, p_mentions) g (thread_id, id, sender_id, mentions)
            on g.thread_id = k.thread_id and g.sender_id is distinct from k.user_id
        cross join lateral (select x from members x where x.thread_id = k.thread_id and x.user_id = k.user_id) m (member)
        where member_is_alerted(m.member, g.mentions::uuid[], p_now) and message_was_sent(g.thread_id, g.sender_id, g.id)
    ), shown as (
        update members m set archived = false from alerted a
        where m.thread_id = a.thread_id and m.user_id = a.user_id
        returning m as member
    )
    select array_agg(s.member order by (s.member).thread_id, (s.member).user_id) into v_shown from shown s;
    if v_shown is null then
        return;
    end if;
    update threads t set has_archived = null where t.id = any (p_members) and not thread_is_archived(t.id);
    v_head := log_begin();
    insert into events (pos, at, type, thread_id, user_id, body)
    select v_head + s.place, p_now, 'settings.updated', (s.member).thread_id, (s.member).user_id,
        event_json('settings.updated', (s.member).thread_id, p_now, settings_json(s.member)::text)
    from (select v_shown[i] as member, i as place from generate_subscripts(v_shown, 1) i) s;
    perform log_announce(v_head + cardinality(v_shown));
end $$;

-- Returns: whether a member has archived the thread.
create or replace function thread_is_archived(p_thread uuid) returns boolean
language plpgsql stable
set enable_sort = off
as $$
begin
    return (select m.user_id from members m where m.thread_id = p_thread and m.archived and m.status = 'joined'
        order by m.notify, m.muted_until limit 1) is not null;
end $$;
