-- Keeping content under legal holds. Every function that removes or replaces content of messages calls one of these
-- first, in its transaction. hold.sql has the calls of administrators.

-- Returns: whether any hold is in force. Until the caller's transaction ends, no hold begins or ends (hold_exclude).
-- Locks: the holds (hold_lock, shared). Order: after threads, before users, attachments and reports
-- Costs: 8 µs, measured
create or replace function hold_enter() returns boolean
language plpgsql volatile as $$
begin
    lock table hold_lock in share mode;
    return (select h.id from holds h where h.released_at is null limit 1) is not null;
end $$;

-- Waits for transactions that remove content, and lets no further one begin. So none of them misses a hold, and the
-- numbers of held contents are in the order of commits for the reader.
-- Locks: the holds (hold_lock)
create or replace function hold_exclude() returns void
language plpgsql volatile as $$
begin
    lock table hold_lock in share update exclusive mode;
end $$;

-- Returns: whether a hold covers a message: its thread, or its sender.
-- Costs: two index probes
create or replace function hold_covers(p_thread uuid, p_sender uuid) returns boolean
language plpgsql stable as $$
begin
    return (select h.id from holds h where h.thread_id = p_thread and h.released_at is null limit 1) is not null
        or (select h.id from holds h where h.user_id = p_sender and h.released_at is null limit 1) is not null;
end $$;

-- Returns: the number of the content that a message has now.
create or replace function hold_version(p_thread uuid, p_seq bigint) returns int
language plpgsql stable as $$
begin
    return 1 + greatest(-1,
        (select e.version from message_edits e
            where e.thread_id = p_thread and e.seq = p_seq order by e.version desc limit 1),
        (select c.version from held_contents c
            where c.thread_id = p_thread and c.seq = p_seq order by c.version desc limit 1));
end $$;

-- Keeps the content of those messages that a hold covers, with their earlier versions.
--   p_removal   deleted | expired | erased
-- Locks: as hold_enter; the caller holds the threads
create or replace function hold_keep(p_messages messages[], p_removal text, p_at timestamptz) returns void
language plpgsql volatile as $$
begin
    if not hold_enter() then
        return;
    end if;
    insert into held_contents (
        thread_id, seq, version, message_id, sender_id, type, sent_at, payload, removal, removed_at)
    select x.thread_id, x.seq, v.version, x.id, x.sender_id, x.type, x.created_at, v.payload, v.removal, v.at
    from unnest(p_messages) x
    cross join lateral (
        select e.version, e.payload, 'edited', e.replaced_at from message_edits e
        where e.thread_id = x.thread_id and e.seq = x.seq
        union all
        select hold_version(x.thread_id, x.seq), x.payload, p_removal, p_at) v (version, payload, removal, at)
    where hold_covers(x.thread_id, x.sender_id) and v.payload is not null
    order by x.thread_id, x.seq, v.version
    on conflict (thread_id, seq, version) do nothing;
end $$;

-- Keeps the payload that an edit replaces, and the version that the edit drops (p_dropped) to make room.
-- Locks: the caller holds the thread, and has called hold_enter
create or replace function hold_keep_edit(m messages, p_version int, p_dropped int, p_at timestamptz) returns void
language plpgsql volatile as $$
begin
    insert into held_contents (
        thread_id, seq, version, message_id, sender_id, type, sent_at, payload, removal, removed_at)
    select m.thread_id, m.seq, v.version, m.id, m.sender_id, m.type, m.created_at, v.payload, 'edited', v.at
    from (
        select e.version, e.payload, e.replaced_at from message_edits e
        where e.thread_id = m.thread_id and e.seq = m.seq and e.version = p_dropped
        union all
        select p_version, m.payload, p_at) v (version, payload, at)
    where v.payload is not null
    order by v.version
    on conflict (thread_id, seq, version) do nothing;
end $$;

-- Keeps system messages of a thread before an erasure removes a name from them.
-- Locks: as hold_enter
create or replace function hold_keep_notices(p_thread uuid, p_seqs bigint[], p_user uuid) returns void
language plpgsql volatile as $$
begin
    if not hold_enter() or not hold_covers(p_thread, null) then
        return;
    end if;
    insert into held_contents (thread_id, seq, version, message_id, type, sent_at, payload, removal, removed_at)
    select m.thread_id, m.seq, hold_version(m.thread_id, m.seq), m.id, m.type, m.created_at, m.payload, 'erased',
        stamp()
    from messages m
    where m.thread_id = p_thread and m.seq = any (p_seqs) and m.type = 'system'
        and strpos(m.payload::text, p_user::text) > 0
        and erasure_text(m.payload::text, p_user) <> m.payload::text
    order by m.seq
    on conflict (thread_id, seq, version) do nothing;
end $$;

-- Keeps the copies that reports have of messages which are gone already. The content of other messages is kept when it
-- is removed itself.
-- Locks: the caller has called hold_enter
create or replace function hold_keep_reports(p_reports reports[]) returns void
language plpgsql volatile as $$
begin
    insert into held_contents (
        thread_id, seq, version, message_id, sender_id, type, sent_at, payload, removal, removed_at)
    select r.thread_id, r.seq,
        hold_version(r.thread_id, r.seq) - 1 + row_number() over (partition by r.thread_id, r.seq order by r.id),
        r.message_id, r.user_id, r.type, r.sent_at, r.payload, 'deleted', coalesce(r.deleted_at, stamp())
    from (
        select distinct on (x.thread_id, x.seq, x.payload::text) x.*, m.deleted_at
        from unnest(p_reports) x cross join lateral message_find(x.thread_id, x.message_id) m
        where x.message_id is not null and x.payload is not null and m.payload is null
            and hold_covers(x.thread_id, x.user_id)
            and not exists (select from held_contents c
                where c.thread_id = x.thread_id and c.seq = x.seq and c.payload::text = x.payload::text)
        order by x.thread_id, x.seq, x.payload::text, x.id) r
    on conflict (thread_id, seq, version) do nothing;
end $$;

-- Returns: whether a hold covers messages of this account.
-- Costs: an index probe for each hold of a thread
create or replace function hold_covers_account(p_user uuid) returns boolean
language plpgsql stable as $$
begin
    return hold_covers(null, p_user) or exists (
        select from holds h where h.released_at is null and h.thread_id is not null
            and (select m.seq from messages m where sender_key(m.sender_id, m.thread_id) = sender_key(p_user, h.thread_id)
                and sender_is(m, p_user, h.thread_id) order by m.seq::int limit 1) is not null);
end $$;

-- Keeps the names of an account that is about to be erased, if a hold covers messages of it.
-- Locks: as hold_enter
create or replace function hold_keep_account(p_user uuid) returns void
language plpgsql volatile as $$
begin
    if hold_enter() and hold_covers_account(p_user) then
        insert into held_users (user_id, username, name, external_id)
        select u.id, u.username, u.name, u.external_id from users u
        where u.id = p_user and u.erased_at is null
        on conflict (user_id) do nothing;
    end if;
end $$;
