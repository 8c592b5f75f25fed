-- All stored data of an account, a page of a part at a time. Each row is a JSON text {type, data}, with the key to
-- continue after. Parts are read one after the other, so a change meanwhile may appear in one part and not in another.

-- Returns: the account as its own devices see it, and how it signs in. A new column of users that holds personal data
-- goes here.
create or replace function export_account(p_user uuid) returns text
language sql stable as $$
    select export_line('account', account_json(u, null, u.last_seen_at)::jsonb
        || jsonb_build_object('has_password', u.password_hash is not null, 'email', u.email))
    from users u where u.id = p_user
$$;

-- Returns: the threads in which an account may have written: those that it is or was a member of, and others.
create or replace function account_threads(p_user uuid) returns setof uuid
language sql stable as $$
    select m.thread_id from members m where m.user_id = p_user
    union
    select g.thread_id from guest_threads g where g.user_id = p_user
$$;

-- Returns: the next `p_limit` messages of an account in the order of (thread, seq).
-- Costs: an index probe for each thread up to the last message
create or replace function account_messages(p_user uuid, p_thread uuid, p_seq bigint, p_limit int) returns setof messages
language plpgsql stable
set enable_sort = off
as $$
declare
    v_thread uuid;
    v_left int := p_limit;
    v_count int;
begin
    for v_thread in select t.id from account_threads(p_user) t (id) where t.id >= p_thread order by t.id loop
        return query
        select m.* from messages m
        where sender_key(m.sender_id, m.thread_id) = sender_key(p_user, v_thread)
            and m.seq::int > case when v_thread = p_thread then p_seq else 0 end::int and sender_is(m, p_user, v_thread)
        order by m.seq::int limit v_left;
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        exit when v_left = 0;
    end loop;
end $$;

-- Returns: one line of an export.
create or replace function export_line(p_type text, p_data jsonb) returns text
language sql immutable parallel safe as $$
    select '{"type":"' || p_type || '","data":' || p_data || '}'
$$;

-- Returns: a page of a part after `p_after`, in the order of its key (thread or other id, seq). It ends before 1 MiB,
-- but has at least one row.
--   p_part      sessions | blocks | attachments | reports | reviews | threads | messages | reactions | read | delivered | hidden
--   is_edited   the message has earlier versions (export_versions)
create or replace function export_page(p_user uuid, p_part text, p_after_id uuid, p_after_seq bigint, p_limit int)
returns table (line text, id uuid, seq bigint, is_edited boolean)
language plpgsql stable as $$
declare
    v_id uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
    v_seq bigint := coalesce(p_after_seq, 0);
begin
    case p_part
    when 'sessions' then
        return query select export_line('session', session_json(s)::jsonb || jsonb_build_object('push', case when p.platform
                is not null then jsonb_build_object('platform', p.platform, 'token', p.token, 'environment', p.environment,
                'topic', p.topic, 'registered_at', rfc3339(p.registered_at)) end)), s.id, 0::bigint, false
            from sessions s left join push_targets p on p.session_id = s.id
            where s.user_id = p_user and s.id > v_id order by s.id limit p_limit;
    when 'blocks' then
        return query select export_line('block', jsonb_build_object('user_id', b.blocked_id, 'created_at', rfc3339(b.created_at))),
                b.blocked_id, 0::bigint, false
            from blocks b where b.user_id = p_user and b.blocked_id > v_id order by b.blocked_id limit p_limit;
    when 'attachments' then
        return query select export_line('attachment', attachment_json(a)::jsonb), a.id, 0::bigint, false
            from attachments a where a.owner_id = p_user and a.id > v_id and a.state < 4 order by a.id limit p_limit;
    when 'reports' then
        return query select export_line('report', report_json(r)::jsonb), r.id, 0::bigint, false
            from reports r where r.reporter_id = p_user and r.id > v_id order by r.id limit p_limit;
    when 'reviews' then
        return query select export_line('review', review_json(r)::jsonb), r.id, 0::bigint, false
            from reviews r where r.sender_id = p_user and r.id > v_id order by r.id limit p_limit;
    when 'threads' then
        return query select export_line('thread', thread_json(t)::jsonb || jsonb_build_object('peer', case t.kind when 'direct'
                then sender_json(case t.direct_low when p_user then t.direct_high else t.direct_low end) end,
                'me', me_json(m, r.own_seq, r.read_seq)::jsonb || jsonb_build_object('joined_at', rfc3339(m.joined_at),
                    'read_at', rfc3339(m.read_at), 'delivered_at', rfc3339(m.delivered_at)))), m.thread_id, 0::bigint, false
            from (select * from members x where x.user_id = p_user and x.thread_id > v_id order by x.thread_id limit p_limit) m
            join threads t on t.id = m.thread_id cross join lateral member_marks(m::members) r order by m.thread_id;
    when 'messages' then
        return query select f.line, f.thread_id, f.seq, f.is_edited
            from (
                select s.*, row_number() over w as place, sum(octet_length(s.line)) over w as bytes
                from (
                    select '{"type":"message","data":' || message_view(m, p_user) || '}' as line, m.thread_id, m.seq,
                        m.edited_at is not null as is_edited
                    from account_messages(p_user, v_id, v_seq, p_limit) m) s
                window w as (order by s.thread_id, s.seq)
            ) f where f.place = 1 or f.bytes <= 1048576 order by f.thread_id, f.seq;
    when 'reactions' then
        return query select export_line('reaction', jsonb_build_object('thread_id', r.thread_id, 'seq', r.seq,
                'emojis', jsonb_agg(r.emoji), 'created_at', rfc3339(min(r.created_at)))), r.thread_id, r.seq, false
            from message_reactions r where r.user_id = p_user and (r.thread_id, r.seq) > (v_id, v_seq)
            group by r.thread_id, r.seq order by r.thread_id, r.seq limit p_limit;
    when 'read', 'delivered' then
        return query select export_line('receipt', jsonb_build_object('thread_id', k.thread_id, 'kind', p_part, 'seq', k.seq,
                'at', rfc3339(k.at))), k.thread_id, k.seq, false
            from (select x.thread_id from members x where x.user_id = p_user and x.thread_id >= v_id order by x.thread_id) m
            cross join lateral (select x.* from receipt_marks x where x.thread_id = m.thread_id and x.user_id = p_user
                and x.kind = p_part and (x.thread_id > v_id or x.seq > v_seq) order by x.seq limit p_limit) k
            order by k.thread_id, k.seq limit p_limit;
    when 'hidden' then
        return query select export_line('hidden_message', jsonb_build_object('thread_id', k.thread_id, 'seq', k.seq)),
                k.thread_id, k.seq, false
            from (select x.thread_id from members x where x.user_id = p_user and x.thread_id >= v_id and x.hides
                order by x.thread_id) m
            cross join lateral (select x.* from message_hides x where x.thread_id = m.thread_id and x.user_id = p_user
                and (x.thread_id > v_id or x.seq > v_seq) order by x.seq limit p_limit) k
            order by k.thread_id, k.seq limit p_limit;
    end case;
end $$;

-- Returns: earlier versions of a message of the user, after a version, at most `p_limit`.
create or replace function export_versions(p_user uuid, p_thread uuid, p_seq bigint, p_after int, p_limit int)
returns table (line text, version int)
language plpgsql stable as $$
begin
    return query
    select '{"type":"message_version","data":{"thread_id":"' || e.thread_id || '","seq":' || e.seq || ',"version":' || e.version
        || ',"payload":' || coalesce(e.payload::text, 'null') || ',"replaced_at":"' || rfc3339(e.replaced_at) || '"}}', e.version
    from message_edits e
    where e.thread_id = p_thread and e.seq = p_seq and e.version > p_after
        and (select m.sender_id from messages m where m.thread_id = p_thread and m.seq between p_seq and p_seq
            order by m.seq limit 1) = p_user
    order by e.version limit p_limit;
end $$;
