-- A thread as one of its members sees it: the shape of GET /v1/threads/{id} and of each entry of the inbox.
-- What is called for each of many rows is in PL/pgSQL, which keeps its plans: an SQL function that can't be inlined is
-- planned again for every row of a function that calls it, which costs ten times what it does.

-- The last seq of a thread, 0 when it has no message.
create or replace function thread_head(p_thread uuid) returns bigint
language plpgsql stable as $$
begin
    return coalesce((select m.seq from messages m where m.thread_id = p_thread order by m.seq desc limit 1), 0);
end $$;

-- How far a member has read: the mark put by receipts, or their own last message, since who sends has seen it all.
create or replace function member_read_seq(m members) returns bigint
language plpgsql stable as $$
begin
    return greatest(m.read_seq, (select o.seq from messages o where o.thread_id = m.thread_id
        and o.sender_id = m.user_id and o.seq > m.read_seq order by o.seq desc limit 1));
end $$;

-- How far a member has read as they see it themselves: less far than others see after an explicit way back (unread_put).
-- Inlined where it stands in FROM, as a function that gives one value would not be.
create or replace function member_marks(m members) returns table (read_seq bigint, own_seq bigint)
language sql stable rows 1 as $$
    select r.seq, case when m.back_from_seq = r.seq then coalesce(m.back_to_seq, r.seq) else r.seq end
    -- `offset 0`: else what is used three times would be computed three times.
    from (select greatest(m.read_seq, (select o.seq from messages o where o.thread_id = m.thread_id
        and o.sender_id = m.user_id and o.seq > m.read_seq order by o.seq desc limit 1)) as seq offset 0) r
$$;

-- A member as the other members see them, with the effective marks. `p_is_live`: with the presence of who has joined, for
-- answers; not for the log, which doesn't keep it, nor in a direct thread of one who has blocked the other.
drop function if exists member_view(members);
create or replace function member_view(m members, p_is_live boolean default false) returns json
language sql stable as $$
    select json_build_object(
        'user', case when p_is_live and m.status = 'joined' and m.blocks is null then profile_json(u) else user_json(u) end,
        'role', m.role, 'status', m.status, 'read_seq', r.seq, 'delivered_seq', greatest(m.delivered_seq, r.seq),
        'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at), 'joined_at', rfc3339(m.joined_at))
    from users u cross join (select member_read_seq(m) as seq) r
    where u.id = m.user_id
$$;

-- The messages of others, not deleted, after the mark. Seqs are dense and one's own messages lie before the mark,
-- so it is a difference less the few that don't count: a few index probes however many are unread. What a member has
-- hidden isn't unread to them.
drop function if exists unread_count(uuid, bigint, bigint);
create or replace function unread_count(m members, p_read bigint, p_head bigint) returns bigint
language plpgsql stable as $$
declare
    v_read bigint := least(greatest(p_read, m.hidden_before_seq - 1), p_head);
begin
    return p_head - v_read - (select count(*) from messages x
        where x.thread_id = m.thread_id and x.seq > v_read and (x.deleted_at is not null or x.sender_id is null))
        -- After a way back, one's own lie behind the mark.
        - case when m.back_to_seq = p_read then (select count(*) from messages x
            where x.thread_id = m.thread_id and x.sender_id = m.user_id and x.seq > v_read and x.deleted_at is null)
            else 0 end
        - case when m.hides then hidden_count(m.thread_id, m.user_id, v_read) else 0 end;
end $$;

-- Of the messages after the mark that the user deleted for themselves, those that would count as unread.
-- A function of its own: as part of another statement it would cost those, too, who hide nothing.
create or replace function hidden_count(p_thread uuid, p_user uuid, p_read bigint) returns bigint
language plpgsql stable as $$
begin
    return (select count(*) from message_hides h
        where h.thread_id = p_thread and h.user_id = p_user and h.seq > p_read
            and (select m.deleted_at is null and m.sender_id <> p_user from messages m
                where m.thread_id = p_thread and m.seq between h.seq and h.seq order by m.seq limit 1));
end $$;

-- Unread messages of others that mention the user.
drop function if exists mention_count(uuid, uuid, bigint);
create or replace function mention_count(m members, p_read bigint) returns bigint
language plpgsql stable as $$
declare
    v_read bigint := greatest(p_read, m.hidden_before_seq - 1);
begin
    return (select count(*) from messages x where x.thread_id = m.thread_id and x.seq > v_read and x.mentions <> '{}'
        and x.deleted_at is null and m.user_id = any (x.mentions) and x.sender_id is distinct from m.user_id
        and not (m.hides and message_is_hidden(m.thread_id, m.user_id, x.seq)));
end $$;

-- Whether the user has deleted the message for themselves. Only ever true for a member that `hides`.
create or replace function message_is_hidden(p_thread uuid, p_user uuid, p_seq bigint) returns boolean
language plpgsql stable as $$
begin
    return exists (select from message_hides h where h.thread_id = p_thread and h.user_id = p_user and h.seq = p_seq);
end $$;

-- The caller's own side of a thread. `p_read` is the mark that they see themselves, `p_seen` the one that others see.
-- Inlined where it is called, as it looks nothing up.
drop function if exists me_json(members, bigint);
create or replace function me_json(m members, p_read bigint, p_seen bigint) returns json
language sql stable as $$
    select json_build_object('role', m.role, 'status', m.status, 'read_seq', p_read,
        'delivered_seq', greatest(m.delivered_seq, p_seen), 'muted_until', rfc3339(m.muted_until),
        'archived', m.archived, 'pinned', m.pinned, 'hidden_before_seq', m.hidden_before_seq,
        'invited_by', case when m.status = 'invited' then sender_json(m.invited_by) end)
$$;

-- Somebody as the sender of a message is shown; null for nobody.
create or replace function sender_json(p_user uuid) returns json
language plpgsql stable as $$
begin
    return (select json_build_object('id', u.id, 'name', u.name, 'profile_image', u.profile_image)
        from users u where u.id = p_user);
end $$;

-- When something last happened in the thread that the member may know of: of the last message, or for lack of one the
-- thread's making or the invitation.
create or replace function thread_activity(t threads, m members, p_last_at timestamptz) returns timestamptz
language sql stable as $$
    select coalesce(p_last_at, case when m.status = 'invited' then m.invited_at end, t.created_at)
$$;

-- The threads that a user has joined or is invited to, with what their inbox counts; of a thread whose messages they don't
-- see, or that has none, `head` and `head_at` are null.
--   rank      the time of what last happened there that they may know of: thread_activity
--   read_seq, own_seq   as member_marks has them
--   unread    as unread_count has it, which is called where it is more than what is written out here
-- Costs a few index probes a thread, fewer where all is read. A mark is never past the head, so that the head is looked for
-- from there on: without a lower bound the look-up reads a whole page of the index.
-- Inlined where it stands in FROM. `offset 0` keeps what is used twice from being computed twice.
create or replace function user_threads(p_user uuid) returns table (
    thread_id uuid, rank timestamptz, head bigint, head_at timestamptz, read_seq bigint, own_seq bigint, unread bigint)
language sql stable rows 100 as $$
    select o.thread_id, o.rank, o.head, o.head_at, o.read_seq, o.own_seq,
        case when o.head > o.mark is not true then 0
            when o.own_seq < o.read_seq or o.hides then (select unread_count(m, o.own_seq, o.head) from members m
                where m.thread_id = o.thread_id and m.user_id = p_user)
            else o.head - o.mark - (select count(*) from messages x where x.thread_id = o.thread_id and x.seq > o.mark
                and (x.deleted_at is not null or x.sender_id is null)) end
    from (
        select r.*, greatest(r.own_seq, r.hidden_before_seq - 1) as mark
        from (
            select k.*, case when k.back_from_seq = k.read_seq then coalesce(k.back_to_seq, k.read_seq) else k.read_seq end
                as own_seq
            from (
                select m.thread_id, m.hides, m.hidden_before_seq, m.back_from_seq, m.back_to_seq,
                    l.seq as head, l.created_at as head_at,
                    coalesce(l.created_at, case when m.status = 'invited' then m.invited_at end,
                        (select t.created_at from threads t where t.id = m.thread_id)) as rank,
                    case when l.sender_id = m.user_id or m.read_seq >= l.seq then l.seq
                        else greatest(m.read_seq, (select s.seq from messages s
                            where s.thread_id = m.thread_id and s.sender_id = m.user_id and s.seq > m.read_seq
                            order by s.seq desc limit 1)) end as read_seq
                from members m
                left join lateral (select x.seq, x.created_at, x.sender_id from messages x
                    where x.thread_id = m.thread_id
                        and x.seq >= case m.status when 'joined' then greatest(m.read_seq, m.delivered_seq) end
                    order by x.seq desc limit 1) l on true
                where m.user_id = p_user and m.status in ('joined', 'invited')
                offset 0) k
            offset 0) r
        offset 0) o
$$;

-- The thread for the member `m`, one row, of which their marks, the last message that they may know of and what is unread
-- are known (null where there is none). Invited people see that it is there, but none of its messages. Inlined where it
-- stands in FROM: the inbox has one plan for all its entries. Without `p_has_last` the last message is null and its payload
-- is not read.
-- The one with fewer arguments would make a call that leaves out the last ambiguous.
drop function if exists thread_shown(threads, members);
drop function if exists thread_shown(threads, members, bigint, bigint, bigint, timestamptz, bigint);
create or replace function thread_shown(
    t threads, m members, p_read bigint, p_own bigint, p_head bigint, p_head_at timestamptz, p_unread bigint,
    p_has_last boolean default true
) returns table (view json)
language sql stable rows 1 as $$
    select json_build_object(
        'id', t.id, 'kind', t.kind, 'title', coalesce(t.title, p.name), 'image', coalesce(t.image, p.profile_image),
        'peer', case when p.id is not null then
            case when m.status = 'joined' and m.blocked is null and (member_of(t.id, p.id)).status = 'joined' then profile_json(p)
                else user_json(p) end end,
        'member_count', t.member_count, 'retention', retention_json(t.keep_s), 'created_at', rfc3339(t.created_at),
        'last_message', case when v.seq is not null then message_json(v.thread_id, v.seq, v.id, v.sender_id, u.name,
            u.profile_image, v.type, v.payload, v.reply_to, v.mentions, v.created_at, v.edited_at, v.deleted_at,
            v.expires_at, case when v.reacted then reactions_json(v.thread_id, v.seq, m.user_id) end)::json end,
        'unread_count', p_unread,
        'mention_count', case when p_head > p_own then mention_count(m, p_own) else 0 end,
        'last_activity_at', rfc3339(thread_activity(t, m, p_head_at)),
        'head', coalesce(p_head, 0), 'me', me_json(m, p_own, p_read))
    from (select) one
    -- The last that the member sees: unless they have hidden it or deleted it for themselves, the same one.
    left join lateral (select x.* from messages x where p_has_last and x.thread_id = t.id and x.seq <= p_head
        and x.seq >= m.hidden_before_seq and not (m.hides and message_is_hidden(t.id, m.user_id, x.seq))
        order by x.seq desc limit 1) v on true
    left join users u on u.id = v.sender_id
    left join users p on t.kind = 'direct'
        and p.id = case when t.direct_low = m.user_id then t.direct_high else t.direct_low end
$$;

-- The same, with what thread_shown needs looked up. Callers that don't return the last message ask for the view without
-- it: a payload that can't be cast to jsonb, stored by an older version, would make them fail.
drop function if exists thread_view(threads, members);
create or replace function thread_view(t threads, m members, p_has_last boolean default true) returns json
language plpgsql stable as $$
begin
    return (select s.view from member_marks(m) r
        left join lateral (select x.seq, x.created_at from messages x
            where x.thread_id = t.id and x.seq >= greatest(m.read_seq, m.delivered_seq) and m.status = 'joined'
            order by x.seq desc limit 1) l on true
        cross join lateral thread_shown(t, m, r.read_seq, r.own_seq, l.seq, l.created_at,
            case when l.seq > r.own_seq then unread_count(m, r.own_seq, l.seq) else 0 end, p_has_last) s);
end $$;

-- The thread, locked against messages and changes of its members. No new row version comes of it.
-- Fails: PY404 thread_not_found.
-- locks: the thread
create or replace function thread_lock(p_thread uuid) returns threads
language plpgsql volatile as $$
declare
    v_thread threads;
begin
    select * into v_thread from threads t where t.id = p_thread for no key update;
    if not found then
        perform thread_refuse();
    end if;
    return v_thread;
end $$;

-- The same for a member. Others are refused before they wait for the lock or take it. Ask again under the lock: the
-- membership may have ended meanwhile.
-- Fails: PY404 thread_not_found, PY403 not_joined.
-- locks: the thread
create or replace function thread_lock_joined(p_thread uuid, p_user uuid) returns threads
language plpgsql volatile as $$
begin
    perform member_joined(p_thread, p_user);
    return thread_lock(p_thread);
end $$;

-- The row of the caller's membership if it gives a part in the thread, else null.
create or replace function member_of(p_thread uuid, p_user uuid) returns members
language plpgsql stable as $$
declare
    v_member members;
begin
    select * into v_member from members m
    where m.thread_id = p_thread and m.user_id = p_user and m.status in ('joined', 'invited');
    return v_member;
end $$;

-- Raises what a caller without a part in the thread gets: the same whether it exists or not.
create or replace function thread_refuse() returns void
language plpgsql volatile as $$
begin
    raise exception using errcode = 'PY404', message = 'thread_not_found',
        detail = 'There is no such thread, or you are not a member.';
end $$;

-- Raises for invited people, who see the thread and not what is in it.
create or replace function thread_refuse_invited() returns void
language plpgsql volatile as $$
begin
    raise exception using errcode = 'PY403', message = 'not_joined',
        detail = 'Accept the invitation to this thread first.';
end $$;

-- The membership that lets its holder read and write in the thread.
-- Fails: PY404 thread_not_found, PY403 not_joined.
create or replace function member_joined(p_thread uuid, p_user uuid) returns members
language plpgsql stable as $$
declare
    v_member members := member_of(p_thread, p_user);
begin
    if v_member.status is null then
        perform thread_refuse();
    elsif v_member.status = 'invited' then
        perform thread_refuse_invited();
    end if;
    return v_member;
end $$;

-- Fails: PY404 thread_not_found.
create or replace function thread_get(p_user uuid, p_thread uuid) returns text
language plpgsql stable as $$
declare
    v_member members := member_of(p_thread, p_user);
    v_view text;
begin
    select thread_view(t, v_member)::text into v_view from threads t where t.id = p_thread and v_member.status is not null;
    if v_view is null then
        perform thread_refuse();
    end if;
    return v_view;
end $$;

-- Public rooms whose key begins with `p_prefix`, the key of a title's beginning, the most populous first. `p_former_prefix`:
-- what that key was before 2026-12 (room_join).
drop function if exists room_list(text, int, bigint, uuid);
create or replace function room_list(
    p_prefix text, p_former_prefix text, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select thread_json(t)::text, -t.member_count::bigint, t.id
    from threads t
    where t.kind = 'room'
        and (t.room_key >= p_prefix collate "C" and t.room_key < (p_prefix || U&'\+10FFFF') collate "C"
            or t.room_key >= p_former_prefix collate "C"
                and t.room_key < (p_former_prefix || U&'\+10FFFF') collate "C")
        and (p_after_rank is null or (-t.member_count, t.id) > (p_after_rank, p_after_id))
    order by -t.member_count, t.id
    limit p_limit
$$;
