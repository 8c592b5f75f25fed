-- A thread as one of its members sees it: the shape of GET /v1/threads/{id} and of each entry of the inbox. A function
-- that is called for each of many rows is in PL/pgSQL, which keeps its plans. An SQL function that cannot be inlined
-- is planned again for every row, which costs ten times as much.

-- Returns: the last seq of a thread, 0 without messages.
create or replace function thread_head(p_thread uuid) returns bigint
language plpgsql stable as $$
begin
    return coalesce((select m.seq from messages m where m.thread_id = p_thread order by m.seq desc limit 1), 0);
end $$;

-- Returns: the caller's own side of a thread. `p_read` is the mark that they see themselves, `p_seen` the one that
-- others see. Inlined, because it looks nothing up.
create or replace function me_json(m members, p_read bigint, p_seen bigint) returns json
language sql stable as $$
    select json_build_object('role', m.role, 'status', m.status, 'read_seq', p_read,
        'delivered_seq', greatest(m.delivered_seq, p_seen), 'muted_until', rfc3339(m.muted_until),
        'archived', m.archived, 'pinned', m.pinned, 'notify', coalesce(m.notify, 'all'),
        'hidden_before_seq', m.hidden_before_seq, 'custom', m.custom::json, 'labels', labels_json(m.labels),
        'invited_by', case when m.status = 'invited' then sender_json(m.invited_by) end)
$$;

-- Returns: a user as the sender of a message is shown; null for null.
create or replace function sender_json(p_user uuid) returns json
language plpgsql stable as $$
begin
    return (select json_build_object('id', u.id, 'name', u.name, 'profile_image', u.profile_image)
        from users u where u.id = p_user);
end $$;

-- Returns: when something last happened in the thread that the member may know of: the last message, or without one
-- the making of the thread or the invitation.
create or replace function thread_activity(t threads, m members, p_last_at timestamptz) returns timestamptz
language sql stable as $$
    select coalesce(p_last_at, case when m.status = 'invited' then m.invited_at end, t.created_at)
$$;

-- Returns: the thread for the member `m`, in one row. The caller has looked up the marks, the last message that the
-- member may know of, and the unread count (null where there is none). Invited people see that there is a last
-- message, but not the message. Inlined where it is in FROM: the inbox has one plan for all its entries. Without
-- `p_has_last` the last message is null and its payload is not read.
create or replace function thread_shown(
    t threads, m members, p_read bigint, p_own bigint, p_head bigint, p_head_at timestamptz, p_unread bigint,
    p_has_last boolean default true
) returns table (view json)
language sql stable rows 1 as $$
    select json_build_object(
        'id', t.id, 'kind', t.kind, 'external_id', t.external_id, 'title', coalesce(t.title, p.name), 'topic', t.topic, 'image', coalesce(t.image, p.profile_image),
        'peer', case when p.id is not null then
            case when m.status = 'joined' and m.blocked is null and (member_of(t.id, p.id)).status = 'joined' then profile_json(p)
                else user_json(p) end end,
        'custom', t.custom::json, 'labels', labels_json(t.labels), 'member_count', t.member_count, 'retention', retention_json(t.keep_s), 'created_at', rfc3339(t.created_at),
        'last_message', case when v.seq is not null then message_json(v.thread_id, v.seq, v.id, v.sender_id, u.name,
            u.profile_image, v.type, v.payload, v.reply_to, v.mentions, v.created_at, v.edited_at, v.deleted_at,
            v.expires_at, case when v.reacted then reactions_json(v.thread_id, v.seq, m.user_id) end)::json end,
        'unread_count', p_unread,
        'mention_count', case when p_head > p_own then mention_count(m, p_own) else 0 end,
        'last_activity_at', rfc3339(thread_activity(t, m, p_head_at)),
        'head', coalesce(p_head, 0), 'me', me_json(m, p_own, p_read))
    from (select) one
    -- The last message that the member sees, which may be an earlier one if they cleared or deleted the last.
    left join lateral (select x.* from messages x where p_has_last and x.thread_id = t.id and x.seq <= p_head
        and x.seq >= m.hidden_before_seq and not (m.hides and message_is_hidden(t.id, m.user_id, x.seq))
        order by x.seq desc limit 1) v on true
    left join users u on u.id = v.sender_id
    left join users p on t.kind = 'direct'
        and p.id = case when t.direct_low = m.user_id then t.direct_high else t.direct_low end
$$;

-- Returns: the same, and looks up what thread_shown needs. Callers that do not return the last message ask for the
-- view without it: a payload that cannot be cast to jsonb would make them fail.
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

-- Returns: the thread as the caller sees it.
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
