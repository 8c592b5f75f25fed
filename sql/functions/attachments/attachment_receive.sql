-- Which devices have the files of messages that are kept until they are delivered. Such a message first waits for
-- devices that lack it (undelivered_is_needed), then here for devices that lack one of its files.

-- Records that a device has the whole file, if a message waits for that.
-- Fails: as attachment_of.
-- Locks: the receipt
-- Costs: an index probe if no message of a thread that keeps content until it is delivered uses it
create or replace function attachment_receive(p_id uuid, p_user uuid, p_session uuid) returns void
language plpgsql volatile as $$
declare
    v_threads uuid[];
begin
    perform attachment_of(p_id, p_user);
    v_threads := array(
        select distinct u.holder_id from attachment_uses u
        cross join lateral (select x.until_delivered from messages x
            where x.thread_id = u.holder_id and x.seq between u.seq and u.seq order by x.seq limit 1) m
        where u.attachment_id = p_id and u.kind = 'message' and u.is_transient and u.is_current and m.until_delivered);
    if v_threads = '{}' then
        return;
    end if;
    -- A device that was signed out meanwhile leaves no receipt.
    insert into attachment_receipts (attachment_id, session_id, user_id)
    select p_id, s.id, s.user_id from sessions s where s.id = p_session and s.user_id = p_user
    on conflict (attachment_id, session_id) do nothing;
    if found then
        perform undelivered_recheck(t.id) from unnest(v_threads) t (id);
    end if;
end $$;

-- Returns: whether a device still needs a file of the message `p_seq`, whose content was written at `p_at`. Devices
-- count as in undelivered_is_needed, but for those of the sender. A member who has only devices that signed in later
-- needs it until one of them has received it.
create or replace function attachment_is_needed(p_thread uuid, p_seq bigint, p_at timestamptz, p_silent timestamptz)
returns boolean
language plpgsql stable as $$
declare
    v_sender uuid;
    v_ids uuid[] := array(select u.attachment_id from attachment_uses u
        where u.holder_id = p_thread and u.seq = p_seq and u.kind = 'message' and u.is_current);
begin
    if v_ids = '{}' or p_at <= p_silent then
        return false;
    end if;
    v_sender := (select x.sender_id from messages x
        where x.thread_id = p_thread and x.seq between p_seq and p_seq order by x.seq limit 1);
    return exists (
        select from members m
        cross join lateral (
            select bool_or(attachment_is_lacking(v_ids, s.id)) filter (where s.created_at <= p_at) as lacks,
                bool_and(attachment_is_lacking(v_ids, s.id)) as all_lack
            from sessions s where s.user_id = m.user_id and s.last_used_at > p_silent) d
        where m.thread_id = p_thread and m.status in ('joined', 'invited') and m.user_id <> v_sender
            and least(m.invited_at, m.joined_at) <= p_at and coalesce(d.lacks, d.all_lack));
end $$;

-- Returns: whether a device lacks one of the attachments.
create or replace function attachment_is_lacking(p_ids uuid[], p_session uuid) returns boolean
language plpgsql stable as $$
begin
    return (select count(*) from attachment_receipts r where r.attachment_id = any (p_ids) and r.session_id = p_session)
        < cardinality(p_ids);
end $$;

-- Of the messages `p_seqs`, whose content no device needs any more, moves those to undelivered_files of which a device
-- needs a file. They do not delay others there.
-- Returns: the seqs of all that nobody needs any more, those among undelivered_files included.
-- Locks: the caller holds the thread
-- Costs: an index probe a message; for each of up to 5,000 messages that wait for files, a few for each device
create or replace function attachment_hold(p_thread uuid, p_seqs bigint[], p_silent timestamptz) returns bigint[]
language plpgsql volatile as $$
declare
    v_free bigint[];
begin
    insert into undelivered_files (thread_id, seq, at)
    select u.thread_id, u.seq, u.at from undelivered u
    where u.thread_id = p_thread and u.seq = any (p_seqs)
        and (select a.kind from attachment_uses a where a.holder_id = p_thread and a.seq = u.seq limit 1) is not null
    on conflict (thread_id, seq) do update set at = excluded.at;
    v_free := array(
        select f.seq from undelivered_files f where f.thread_id = p_thread order by f.seq limit 5000);
    v_free := array(select f.seq from undelivered_files f where f.thread_id = p_thread and f.seq = any (v_free)
        and not attachment_is_needed(p_thread, f.seq, f.at, p_silent));
    p_seqs := array(select s.seq from unnest(p_seqs) s (seq)
        where not exists (select from undelivered_files f where f.thread_id = p_thread and f.seq = s.seq));
    delete from undelivered_files f where f.thread_id = p_thread and f.seq = any (v_free);
    return p_seqs || v_free;
end $$;
