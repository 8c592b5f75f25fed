-- Reviews: messages and edits that the policy sends to a moderator. Only their senders and administrators see them,
-- until one is approved.

-- Returns: a review as the sender of the message sees it, as JSON text.
create or replace function review_json(r reviews) returns text
language plpgsql stable as $$
begin
    return json_build_object('id', r.message_id, 'thread_id', r.thread_id, 'state', r.state, 'edit', r.is_edit, 'type', r.type,
        'sender', sender_json(r.sender_id), 'payload', r.payload, 'reply_to', r.reply_to, 'mentions', r.mentions,
        'created_at', rfc3339(r.created_at))::text;
end $$;

-- Returns: a review as administrators see it.
create or replace function review_admin_json(r reviews) returns text
language plpgsql stable as $$
begin
    return json_build_object('id', r.message_id, 'thread_id', r.thread_id, 'state', r.state, 'edit', r.is_edit, 'type', r.type,
        'sender', (select user_json(u) from users u where u.id = r.sender_id), 'payload', r.payload, 'reply_to', r.reply_to,
        'mentions', r.mentions, 'code', r.code, 'detail', r.detail, 'created_at', rfc3339(r.created_at),
        'decided_at', rfc3339(r.decided_at))::text;
end $$;

-- Begins the review of a message, or of an edit. The refusals of a send apply here, too.
-- Fails: PY422 (reply_to, mentions, payload.attachments); PY409 id_taken, attachment_not_ready, attachment_refused; for
-- an edit as message_own.
-- Locks: the attachments by id; the caller holds the verdict
create or replace function review_create(
    p_user uuid, p_thread uuid, p_message uuid, p_is_edit boolean, p_type text, p_payload json, p_reply_to uuid,
    p_mentions uuid[], p_attachments uuid[], p_expires_s int, p_code text, p_detail text) returns void
language plpgsql volatile as $$
declare
    v_now timestamptz := stamp();
    v_id uuid := uuid_v7(v_now);
    v_member members := member_joined(p_thread, p_user);
    v_base_at timestamptz;
begin
    if p_is_edit then
        v_base_at := (message_own(p_user, p_thread, p_message)).edited_at;
    elsif p_reply_to is not null
        and message_reply_to(p_thread, p_user, v_member.hides, v_member.hidden_before_seq, p_reply_to) is null then
        perform refuse(422, 'invalid', 'The thread has no such message.', 'reply_to');
    elsif p_mentions <> '{}' and not message_may_mention(p_thread, p_mentions) then
        perform refuse(422, 'invalid', 'Only members of the thread can be mentioned.', 'mentions');
    end if;
    if p_attachments <> '{}' then
        perform review_use(v_id, p_user, p_thread, p_message, p_is_edit, p_attachments);
    end if;
    insert into reviews (id, thread_id, message_id, sender_id, is_edit, type, payload, attachments, reply_to, mentions,
        expires_s, base_at, code, detail, created_at)
    values (v_id, p_thread, p_message, p_user, p_is_edit, p_type, p_payload, p_attachments, p_reply_to, p_mentions,
        p_expires_s, v_base_at, p_code, p_detail, v_now)
    on conflict do nothing;
    if not found then
        perform refuse(409, 'id_taken', 'Another message of this thread has this id. Use a new id.');
    end if;
end $$;

-- Keeps the attachments of a message under review. Those that the edited message already has are not checked.
-- Fails: PY422 (payload.attachments); PY409 attachment_not_ready, attachment_refused.
-- Locks: the attachments by id
create or replace function review_use(
    p_id uuid, p_user uuid, p_thread uuid, p_message uuid, p_is_edit boolean, p_attachments uuid[]) returns void
language plpgsql volatile as $$
declare
    v_seq bigint := case when p_is_edit then (message_find(p_thread, p_message)).seq end;
    v_refusal text;
begin
    perform from attachments a where a.id = any (p_attachments) order by a.id for no key update;
    v_refusal := (select min(attachment_verdict(i.id, p_user)) from unnest(p_attachments) i (id)
        where not exists (select from attachment_uses u
            where u.attachment_id = i.id and u.kind = 'message' and u.holder_id = p_thread and u.seq = v_seq));
    if v_refusal = 'no_attachment' then
        perform refuse(422, 'invalid',
            'Each must be the id of an attachment that you uploaded or can see.', 'payload.attachments');
    elsif v_refusal is not null then
        perform attachment_refuse_state(case v_refusal when 'attachment_refused' then 3 else 0 end);
    end if;
    insert into attachment_uses (attachment_id, kind, holder_id) select i.id, 'review', p_id from unnest(p_attachments) i (id);
    update attachments a set due_at = null where a.id = any (p_attachments) and a.due_at is not null;
end $$;

-- Deletes the uses of messages under review. Attachments that nothing else uses are deleted.
-- Locks: the attachments by id
create or replace function review_release(p_ids uuid[]) returns void
language plpgsql volatile as $$
declare
    v_attachments uuid[];
begin
    with gone as (
        delete from attachment_uses u where u.holder_id = any (p_ids) and u.kind = 'review' returning u.attachment_id as id)
    select array_agg(g.id order by g.id) into v_attachments from gone g;
    if v_attachments is not null then
        perform attachment_settle(v_attachments);
    end if;
end $$;

-- Deletes reviews.
-- Locks: the reviews, their attachments by id
create or replace function review_drop(p_ids uuid[]) returns void
language plpgsql volatile as $$
begin
    delete from reviews r where r.id = any (p_ids);
    perform review_release(p_ids);
end $$;

-- Returns: a page of the messages that wait for a decision, the newest first.
create or replace function review_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select review_admin_json(r), 0::bigint, r.id from reviews r
    where r.state = 'pending' and (p_after_id is null or r.id < p_after_id)
    order by r.state desc, r.id desc limit p_limit
$$;

-- Returns: the review of the message with this id, locked: one that waits, otherwise the one that was decided last.
-- `p_thread` is needed only if messages with the same id are under review in several threads.
-- Fails: PY404 review_not_found; PY422 (thread_id).
-- Locks: the review
create or replace function review_lock(p_message uuid, p_thread uuid) returns reviews
language plpgsql volatile as $$
declare
    v_review reviews;
begin
    if p_thread is null and (select count(*) from reviews r
        where r.message_id = p_message and r.state = 'pending') > 1 then
        perform refuse(422, 'invalid',
            'Is required: messages with this id are under review in several threads.', 'thread_id');
    end if;
    select * into v_review from reviews r
    where r.message_id = p_message and (p_thread is null or r.thread_id = p_thread)
    order by r.state = 'pending' desc, r.decided_at desc limit 1 for update;
    if not found then
        perform refuse_unknown('review');
    end if;
    return v_review;
end $$;

-- Approves or refuses a message under review. An approved one is appended to the log, with the present time. The same
-- decision again changes nothing.
-- Returns: the review as JSON text.
-- Fails: as review_lock; PY409 review_decided (it was decided otherwise), review_not_approvable.
-- Locks: the review, then as message_append or message_edit; or its attachments by id
create or replace function review_put(p_actor text, p_request text, p_admin_key uuid, p_message uuid, p_thread uuid, p_action text) returns text
language plpgsql volatile as $$
declare
    v_review reviews := review_lock(p_message, p_thread);
    v_state text := case p_action when 'approve' then 'approved' else 'refused' end;
begin
    if v_review.state = v_state then
        return review_admin_json(v_review);
    elsif v_review.state <> 'pending' then
        perform refuse(409, 'review_decided',
            format('This message was %s before. The decision is final.', v_review.state));
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, 'review.' || p_action, v_review.sender_id, v_review.thread_id, v_review.message_id);
    update policy_verdicts v set action = case v_state when 'approved' then 'allow' else 'deny' end,
        code = case v_state when 'refused' then 'policy_denied' end,
        detail = case v_state when 'refused' then 'A moderator refused this message.' end,
        expires_at = stamp() + interval '7 days'
    where v.sender_id = v_review.sender_id and v.thread_id = v_review.thread_id and v.message_id = v_review.message_id
        and v.is_edit = v_review.is_edit and v.action = 'review';
    if v_state = 'approved' then
        perform review_append(v_review);
    end if;
    update reviews r set state = v_state, decided_at = stamp(), payload = null, attachments = '{}', mentions = '{}',
        reply_to = null
    where r.id = v_review.id returning r.* into v_review;
    perform review_release(array[v_review.id]);
    return review_admin_json(v_review);
end $$;

-- Appends a message under review to the log, or applies its edit.
-- Fails: PY409 review_not_approvable, with the reason.
-- Locks: as message_append or message_edit
create or replace function review_append(r reviews) returns void
language plpgsql volatile as $$
declare
    v_outcome text;
    v_reason text;
begin
    if (select u.suspended_at from users u where u.id = r.sender_id) is not null then
        perform review_refuse('The sender''s account is suspended.');
    elsif r.is_edit then
        begin
            if (message_own(r.sender_id, r.thread_id, r.message_id)).edited_at is distinct from r.base_at then
                perform review_refuse('The message was edited since.');
            end if;
            perform message_edit(r.sender_id, r.thread_id, r.message_id, r.payload, r.attachments);
        exception when sqlstate 'PY403' or sqlstate 'PY404' or sqlstate 'PY422' then
            get stacked diagnostics v_reason = pg_exception_detail;
            perform review_refuse(v_reason);
        end;
    else
        select a.outcome into v_outcome from message_append(array[r.message_id], array[r.thread_id], array[r.sender_id],
            array[r.type], array[r.payload], array[r.reply_to], array[r.mentions::text], null, '', null,
            case when r.expires_s is not null then array[r.expires_s] end,
            case when r.attachments <> '{}' then array[r.attachments::text] end) a;
        if v_outcome not in ('created', 'exists') then
            perform review_refuse(review_reason(v_outcome));
        end if;
    end if;
end $$;

-- Returns: why a message cannot be appended, for an outcome of message_append.
create or replace function review_reason(p_outcome text) returns text
language sql immutable as $$
    select case p_outcome
        when 'no_thread' then 'The sender is not a member of the thread any more.'
        when 'no_reply' then 'The message that it replies to does not exist any more, or its sender does not see it.'
        when 'no_mention' then 'It mentions somebody who is not a member of the thread any more.'
        else coalesce((select r.detail from outbox_refusal(p_outcome) r), 'Unknown outcome ' || p_outcome || '.') end
$$;

-- Fails: PY409 review_not_approvable, always.
create or replace function review_refuse(p_reason text) returns void
language plpgsql volatile as $$
begin
    perform refuse(409, 'review_not_approvable',
        'This message cannot be approved. ' || p_reason || ' Refuse it instead.');
end $$;

-- Returns: how many messages wait for a decision, counted up to `p_max`.
create or replace function review_count(p_max int) returns bigint
language plpgsql stable as $$
begin
    return (select count(*) from (select from reviews r where r.state = 'pending' limit p_max) x);
end $$;
