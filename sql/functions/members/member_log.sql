-- Events about memberships. The caller holds the thread's lock, so no message is appended between the check of a
-- membership and its change.

-- Writes the events about a member's new state and the new number of members, and records in membership_spans what
-- begins or ends. In threads of more than 100 members only the person concerned, owners and admins get the event.
--   p_effect   what becomes of the membership: invites | begins | ends | none
--   p_actor    who did it, null for the server
-- Returns: the last position written.
-- Locks: the caller holds the log
create or replace function member_log(p_head bigint, p_now timestamptz, t threads, m members, p_effect text, p_actor uuid) returns bigint
language plpgsql volatile as $$
declare
    v_pos bigint := p_head;
    v_body text := event_json('member.updated', t.id, p_now,
        (member_view(m)::jsonb || jsonb_build_object('member_count', t.member_count))::text);
    v_is_large boolean := t.member_count > 100;
    v_count int;
begin
    if p_effect in ('invites', 'begins') then
        v_pos := v_pos + 1;
        insert into events (pos, at, type, thread_id, user_id, actor_id, body)
        values (v_pos, p_now, 'thread.created', t.id, m.user_id, p_actor,
            event_json('thread.created', t.id, p_now, thread_created_data(t, m)));
    end if;
    v_pos := v_pos + 1;
    insert into events (pos, at, type, thread_id, user_id, begins, ends, actor_id, is_change, body)
    values (v_pos, p_now, 'member.updated', t.id, case when v_is_large then m.user_id end,
        case when p_effect = 'begins' then array[m.user_id] end,
        case when p_effect = 'ends' then array[m.user_id] end, p_actor, case when v_is_large then true end, v_body);
    if p_effect = 'begins' then
        insert into membership_spans (user_id, thread_id, from_pos) values (m.user_id, t.id, v_pos);
    elsif p_effect = 'ends' then
        update membership_spans s set to_pos = v_pos
        where s.user_id = m.user_id and s.thread_id = t.id and s.to_pos is null;
    end if;
    -- People outside the audience who need the event: invited people, also former ones, and the owners and admins of a
    -- large thread.
    if v_is_large then
        insert into events (pos, at, type, thread_id, user_id, actor_id, body)
        select v_pos + row_number() over (order by o.user_id), p_now, 'member.updated', t.id, o.user_id, p_actor, v_body
        from members o
        where o.thread_id = t.id and o.role in ('owner', 'admin') and o.status = 'joined' and o.user_id <> m.user_id;
        get diagnostics v_count = row_count;
        v_pos := v_pos + v_count;
    elsif m.status <> 'joined' and p_effect <> 'ends' then
        v_pos := v_pos + 1;
        insert into events (pos, at, type, thread_id, user_id, actor_id, body)
        values (v_pos, p_now, 'member.updated', t.id, m.user_id, p_actor, v_body);
    elsif p_effect in ('begins', 'ends') then
        v_pos := member_count_log(v_pos, p_now, t);
    end if;
    return v_pos;
end $$;

-- Writes an event with the new number of members for each invited person: they see how many have joined, and not who.
-- Writes none for more than 100 invited people, because each join would then cost an event for each of them.
-- Returns: the last position written.
create or replace function member_count_log(p_head bigint, p_now timestamptz, t threads) returns bigint
language plpgsql volatile as $$
declare
    v_invited uuid[] := array(select i.user_id from members i where i.thread_id = t.id and i.status = 'invited' limit 101);
begin
    if cardinality(v_invited) not between 1 and 100 then
        return p_head;
    end if;
    insert into events (pos, at, type, thread_id, user_id, body)
    select p_head + o.place, p_now, 'thread.updated', t.id, o.user_id,
        event_json('thread.updated', t.id, p_now, thread_json(t)::text)
    from unnest(v_invited) with ordinality o (user_id, place);
    return p_head + cardinality(v_invited);
end $$;
