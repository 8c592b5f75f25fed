-- The verdicts of the operator's policy about messages and edits. The API asks the policy before it appends anything.
-- A verdict is recorded first, so a retry gets the same one from every node.

-- Returns: a digest of what a sender sent.
create or replace function policy_digest(p_type text, p_payload json, p_reply_to uuid, p_mentions uuid[]) returns bytea
language sql immutable parallel safe as $$
    select sha256(convert_to(concat_ws(E'\n', p_type, coalesce(p_reply_to::text, ''), p_mentions::text, p_payload::text), 'UTF8'))
$$;

-- Looks for the verdict about a message, or about an edit (`p_is_edit`), that a sender sends.
-- Returns: one row:
--   outcome   allow | deny | rewrite | review: the verdict; stored: the thread has a message with this id, so nothing is
--             to be asked; ask: there is no verdict
--   code, detail           with deny
--   payload, attachments   with rewrite
--   review    with review: the review as JSON text
--   sender, thread         with ask: what the policy is to know of both, as JSON text
-- Fails: for what the sender may not send, as message_append and message_edit refuse it: PY404 thread_not_found; PY403
-- not_joined, not_reachable; PY409 id_taken (another message with this id is under review).
create or replace function policy_find(
    p_user uuid, p_thread uuid, p_message uuid, p_is_edit boolean, p_type text, p_payload json, p_reply_to uuid,
    p_mentions uuid[]
) returns table (outcome text, code text, detail text, payload text, attachments uuid[], review text, sender text, thread text)
language plpgsql stable as $$
declare
    v_verdict policy_verdicts;
begin
    if not p_is_edit and (message_find(p_thread, p_message)).seq is not null then
        return query select 'stored', null::text, null::text, null::text, null::uuid[], null::text, null::text, null::text;
        return;
    elsif (member_joined(p_thread, p_user)).blocked then
        perform block_refuse();
    end if;
    v_verdict := policy_verdict(p_user, p_thread, p_message, p_is_edit);
    if v_verdict.digest = policy_digest(p_type, p_payload, p_reply_to, p_mentions) then
        return query select o.*, null::text, null::text from policy_outcome(v_verdict) o;
    else
        perform policy_refuse_other(v_verdict);
        return query select 'ask', null::text, null::text, null::text, null::uuid[], null::text,
            policy_sender(p_user)::text, policy_thread(p_thread)::text;
    end if;
end $$;

-- Returns: the recorded verdict, all null if there is none.
create or replace function policy_verdict(p_user uuid, p_thread uuid, p_message uuid, p_is_edit boolean)
returns policy_verdicts
language plpgsql stable as $$
declare
    v_verdict policy_verdicts;
begin
    select * into v_verdict from policy_verdicts v
    where v.sender_id = p_user and v.thread_id = p_thread and v.message_id = p_message and v.is_edit = p_is_edit;
    return v_verdict;
end $$;

-- Returns: the verdict in the columns of policy_find.
create or replace function policy_outcome(
    v policy_verdicts, out outcome text, out code text, out detail text, out payload text, out attachments uuid[],
    out review text)
language plpgsql stable as $$
begin
    outcome := v.action;
    code := v.code;
    detail := v.detail;
    payload := v.payload::text;
    attachments := v.attachments;
    if v.action = 'review' then
        review := (select review_json(r) from reviews r
            where r.thread_id = v.thread_id and r.message_id = v.message_id and r.state = 'pending');
    end if;
end $$;

-- Fails: PY409 id_taken if the verdict is about a message under review: another one with its id cannot be sent. An edit
-- may be replaced by another one.
create or replace function policy_refuse_other(v policy_verdicts) returns void
language plpgsql stable as $$
begin
    if v.action = 'review' and not v.is_edit then
        perform refuse(409, 'id_taken', 'Another message of this thread has this id. Use a new id.');
    end if;
end $$;

-- Returns: the sender as the policy sees them.
create or replace function policy_sender(p_user uuid) returns json
language sql stable as $$
    select json_build_object('id', u.id, 'kind', case when u.is_bot then 'bot' else 'person' end, 'username', u.username,
        'name', u.name, 'profile_image', u.profile_image, 'external_id', u.external_id)
    from users u where u.id = p_user
$$;

-- Returns: the thread as the policy sees it.
create or replace function policy_thread(p_thread uuid) returns json
language sql stable as $$
    select json_build_object('id', t.id, 'kind', t.kind, 'title', t.title, 'member_count', t.member_count)
    from threads t where t.id = p_thread
$$;

-- Records the policy's verdict about what a sender sends, unless there is one about the same already: the first one
-- counts. A verdict about another body of the same id is replaced. With review, the message waits for a moderator.
-- `p_new` and `p_new_attachments` are the payload of rewrite; `p_expires_s` and `p_attachments` belong to the message.
-- Returns: the verdict that counts, in the columns of policy_find.
-- Fails: PY401 invalid_token (the account was erased meanwhile); PY409 id_taken; with review as review_create.
-- Locks: the sender's row (shared), so that an erasure leaves nothing; the verdict; with review as review_create
create or replace function policy_record(
    p_user uuid, p_thread uuid, p_message uuid, p_is_edit boolean, p_type text, p_payload json, p_reply_to uuid,
    p_mentions uuid[], p_attachments uuid[], p_expires_s int, p_action text, p_code text, p_detail text, p_new json,
    p_new_attachments uuid[], p_keep_s int default 604800
) returns table (outcome text, code text, detail text, payload text, attachments uuid[], review text)
language plpgsql volatile as $$
declare
    v_digest bytea := policy_digest(p_type, p_payload, p_reply_to, p_mentions);
    v_expires_at timestamptz := case when p_action = 'review' then 'infinity'
        else stamp() + p_keep_s * interval '1 second' end;
    v_verdict policy_verdicts;
begin
    perform from users u where u.id = p_user and u.erased_at is null for share;
    if not found then
        perform caller_refuse();
    end if;
    loop
        insert into policy_verdicts as v (sender_id, thread_id, message_id, is_edit, digest, action, code, detail, payload,
            attachments, expires_at)
        values (p_user, p_thread, p_message, p_is_edit, v_digest, p_action, p_code, p_detail, p_new, p_new_attachments,
            v_expires_at)
        on conflict do nothing returning v.* into v_verdict;
        exit when found;
        select * into v_verdict from policy_verdicts v
        where v.sender_id = p_user and v.thread_id = p_thread and v.message_id = p_message and v.is_edit = p_is_edit
        for update;
        continue when not found;
        if v_verdict.digest = v_digest then
            return query select o.* from policy_outcome(v_verdict) o;
            return;
        end if;
        perform policy_refuse_other(v_verdict);
        perform review_drop(array(select r.id from reviews r
            where r.thread_id = p_thread and r.message_id = p_message and r.sender_id = p_user and r.state = 'pending'));
        update policy_verdicts v set digest = v_digest, action = p_action, code = p_code, detail = p_detail, payload = p_new,
            attachments = p_new_attachments, expires_at = v_expires_at
        where v.sender_id = p_user and v.thread_id = p_thread and v.message_id = p_message and v.is_edit = p_is_edit
        returning v.* into v_verdict;
        exit;
    end loop;
    if p_action = 'review' then
        perform review_create(p_user, p_thread, p_message, p_is_edit, p_type, p_payload, p_reply_to, p_mentions, p_attachments,
            p_expires_s, p_code, p_detail);
    end if;
    return query select o.* from policy_outcome(v_verdict) o;
end $$;

-- Returns: whether the policy has rewritten what the sender sent, and the rewritten message is this one.
create or replace function policy_has_rewritten(m messages, p_type text, p_payload json, p_reply_to uuid, p_mentions uuid[])
returns boolean
language plpgsql stable as $$
declare
    v_verdict policy_verdicts := policy_verdict(m.sender_id, m.thread_id, m.id, false);
begin
    return coalesce(v_verdict.action = 'rewrite' and v_verdict.digest = policy_digest(p_type, p_payload, p_reply_to, p_mentions),
        false);
end $$;

-- Deletes the verdicts about messages whose content is withdrawn, and the reviews of edits of these messages.
-- Locks: the reviews, their attachments by id
-- Costs: two index probes a message
create or replace function policy_forget(p_messages messages[]) returns void
language plpgsql volatile as $$
declare
    v_reviews uuid[] := array(select r.id from unnest(p_messages) x
        join reviews r on r.thread_id = x.thread_id and r.message_id = x.id and r.state = 'pending' and r.is_edit);
begin
    delete from policy_verdicts v using unnest(p_messages) x
    where v.sender_id = x.sender_id and v.thread_id = x.thread_id and v.message_id = x.id;
    if v_reviews <> '{}' then
        perform review_drop(v_reviews);
    end if;
end $$;

-- Deletes the verdicts about what an account has sent, and the reviews of its messages.
-- Locks: the reviews, their attachments by id
create or replace function policy_forget_account(p_user uuid) returns void
language plpgsql volatile as $$
begin
    delete from policy_verdicts v where v.sender_id = p_user;
    perform review_drop(array(select r.id from reviews r where r.sender_id = p_user));
end $$;

-- Deletes verdicts that have expired, at most `p_limit`, and as many reviews that were decided
-- `p_keep_s` ago. Of a rewritten message that is stored, the digest stays: a retry is compared with it, however late.
-- Returns: how many it looked at.
-- Locks: the verdicts (skips locked ones)
-- Costs: two index probes when nothing is due
create or replace function policy_sweep(p_limit int, p_now timestamptz default null, p_keep_s int default 604800) returns int
language plpgsql volatile
set enable_sort = off
as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_verdict policy_verdicts;
    v_looked int := 0;
    v_deleted int;
begin
    for v_verdict in
        select * from policy_verdicts v where v.expires_at < v_now
        order by v.expires_at limit p_limit for update skip locked
    loop
        v_looked := v_looked + 1;
        if v_verdict.action = 'rewrite' and not v_verdict.is_edit
            and (message_find(v_verdict.thread_id, v_verdict.message_id)).sender_id = v_verdict.sender_id then
            update policy_verdicts v set payload = null, attachments = null, expires_at = 'infinity'
            where v.sender_id = v_verdict.sender_id and v.thread_id = v_verdict.thread_id
                and v.message_id = v_verdict.message_id and not v.is_edit;
        else
            delete from policy_verdicts v
            where v.sender_id = v_verdict.sender_id and v.thread_id = v_verdict.thread_id
                and v.message_id = v_verdict.message_id and v.is_edit = v_verdict.is_edit;
        end if;
    end loop;
    delete from reviews r where r.id = any (array(
        select d.id from reviews d where d.decided_at < v_now - p_keep_s * interval '1 second'
        order by d.decided_at limit p_limit));
    get diagnostics v_deleted = row_count;
    return v_looked + v_deleted;
end $$;
