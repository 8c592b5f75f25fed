-- Attachments of messages. A client sends their ids. Swift writes them as the payload's last member,
-- `"attachments":[{"id":"…"},…]`, and this text is replaced by whole objects when the message is stored.

-- Returns: the payload with whole objects for the attachments, which are ready.
create or replace function attachment_embed(p_payload json, p_ids uuid[]) returns json
language plpgsql stable as $$
declare
    v_sent text := '"attachments":[{"id":"' || array_to_string(p_ids, '"},{"id":"') || '"}]}';
    v_payload text := p_payload::text;
begin
    if right(v_payload, length(v_sent)) <> v_sent then
        raise exception 'a payload whose attachments are not its last member';
    end if;
    return (left(v_payload, -length(v_sent)) || (
        select '"attachments":[' || string_agg('{' || attachment_members(a) || '}', ',' order by i.place) || ']}'
        from unnest(p_ids) with ordinality i (id, place)
        cross join lateral (select x.* from attachments x where x.id = i.id limit 1) a))::json;
end $$;

-- Returns: why the user may not send an attachment: no_attachment | attachment_not_ready | attachment_refused; null if
-- they may. Its owner may, and everyone who sees it.
create or replace function attachment_verdict(p_id uuid, p_user uuid) returns text
language plpgsql stable as $$
declare
    v_attachment attachments;
begin
    select * into v_attachment from attachments a where a.id = p_id;
    return case
        when v_attachment.state < 2 and v_attachment.owner_id = p_user then 'attachment_not_ready'
        when v_attachment.state = 3 and v_attachment.owner_id = p_user then 'attachment_refused'
        when v_attachment.state = 2
            and (v_attachment.owner_id = p_user or attachment_is_seen(v_attachment, p_user)) then null
        else 'no_attachment' end;
end $$;

-- Judges the attachments of a batch of new messages. `p_attachments` holds an array literal for each item, null for one
-- without.
-- Returns: for each item why it is refused, null if it is not, and its payload with whole objects.
-- Locks: the attachments by id, so that none is deleted before its use is added; the caller holds the threads
create or replace function attachment_judge(p_senders uuid[], p_attachments text[], p_payloads json[])
returns table (refusals text[], payloads json[])
language plpgsql volatile as $$
declare
    v_ids uuid[];
begin
    perform from attachments a
    where a.id = any (array(select i.id from unnest(p_attachments) g (ids), unnest(g.ids::uuid[]) i (id)))
    order by a.id for no key update;
    refusals := array_fill(null::text, array[cardinality(p_senders)]);
    payloads := p_payloads;
    for v_item in 1 .. cardinality(p_senders) loop
        if p_attachments[v_item] is not null then
            v_ids := p_attachments[v_item]::uuid[];
            refusals[v_item] := (select min(v.verdict) from unnest(v_ids) i (id)
                cross join lateral attachment_verdict(i.id, p_senders[v_item]) v (verdict));
            if refusals[v_item] is null then
                payloads[v_item] := attachment_embed(p_payloads[v_item], v_ids);
            end if;
        end if;
    end loop;
    return next;
end $$;

-- Adds the uses of new messages. Items that were not stored, and those without attachments, are left out.
-- Locks: the caller holds the attachments (attachment_judge)
create or replace function attachment_use_new(p_threads uuid[], p_ids uuid[], p_senders uuid[], p_attachments text[])
returns void
language plpgsql volatile as $$
begin
    perform attachment_use_add(m, g.attachments::uuid[])
    from unnest(p_threads, p_ids, p_senders, p_attachments) g (thread_id, id, sender_id, attachments)
    cross join lateral message_find(g.thread_id, g.id) m
    where g.attachments is not null and m.sender_id = g.sender_id;
end $$;

-- Adds a message's uses of attachments that it has not had.
create or replace function attachment_use_add(m messages, p_ids uuid[]) returns void
language plpgsql volatile as $$
begin
    insert into attachment_uses (attachment_id, kind, holder_id, seq, is_transient)
    select i.id, 'message', m.thread_id, m.seq, m.expires_at is not null or m.until_delivered is not null
    from unnest(p_ids) i (id)
    on conflict (attachment_id, kind, holder_id, seq) do update set is_current = true;
    update attachments a set due_at = null where a.id = any (p_ids) and a.due_at is not null;
end $$;

-- Returns: the payload of an edit with whole objects. Attachments that the message has or had need no further right.
-- Fails: PY422 (payload.attachments), PY409 attachment_not_ready, attachment_refused.
-- Locks: the attachments by id; the caller holds the thread
create or replace function attachment_edit(m messages, p_ids uuid[], p_payload json) returns json
language plpgsql volatile as $$
declare
    v_verdict text;
begin
    perform from attachments a where a.id = any (p_ids) order by a.id for no key update;
    v_verdict := (select min(attachment_verdict(i.id, m.sender_id)) from unnest(p_ids) i (id)
        where not exists (select from attachment_uses u
            where u.attachment_id = i.id and u.kind = 'message' and u.holder_id = m.thread_id and u.seq = m.seq));
    if v_verdict = 'no_attachment' then
        perform refuse(422, 'invalid',
            'Each must be the id of an attachment that you uploaded or can see.', 'payload.attachments');
    elsif v_verdict is not null then
        perform attachment_refuse_state(case v_verdict when 'attachment_refused' then 3 else 0 end);
    end if;
    return attachment_embed(p_payload, p_ids);
end $$;

-- Makes a message's uses those of its new version. Uses of earlier versions stay with these, but nobody may see an
-- attachment by them.
create or replace function attachment_use_edit(m messages, p_ids uuid[]) returns void
language plpgsql volatile as $$
begin
    update attachment_uses u set is_current = false
    where u.kind = 'message' and u.holder_id = m.thread_id and u.seq = m.seq
        and u.attachment_id <> all (p_ids) and u.is_current;
    if p_ids <> '{}' then
        perform attachment_use_add(m, p_ids);
    end if;
end $$;

-- Deletes the uses of messages whose content is withdrawn, and the attachments that nothing else uses. Of messages
-- under a legal hold the uses become held ones.
-- Locks: the attachments by id; the caller holds the threads
-- Costs: an index probe a message
create or replace function attachment_release(p_messages messages[]) returns void
language plpgsql volatile as $$
declare
    v_held uuid[];
    v_ids uuid[];
begin
    if hold_enter() then
        with held as (
            update attachment_uses u set kind = 'held', is_current = false from unnest(p_messages) m
            where u.holder_id = m.thread_id and u.seq = m.seq and u.kind = 'message'
                and hold_covers(m.thread_id, m.sender_id)
            returning u.attachment_id
        )
        select array_agg(distinct h.attachment_id) into v_held from held h;
    end if;
    with gone as (
        delete from attachment_uses u using unnest(p_messages) m
        where u.holder_id = m.thread_id and u.seq = m.seq and u.kind = 'message'
        returning u.attachment_id
    )
    select v_held || array_agg(distinct g.attachment_id) into v_ids from gone g;
    if v_ids is not null then
        perform attachment_settle(v_ids);
    end if;
end $$;
