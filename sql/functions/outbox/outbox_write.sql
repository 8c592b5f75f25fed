-- The checks that the functions for other programs make in Parley's own database, and cannot make in a database of
-- another program. They lock nothing: an open transaction must never hold a lock of Parley's.

-- Returns: the direct thread that ensure_direct has returned another id for; any other id unchanged.
create or replace function outbox_thread(p_thread uuid) returns uuid
language plpgsql stable as $$
begin
    return coalesce((select a.thread_id from direct_aliases a where a.id = p_thread), p_thread);
end $$;

-- Returns: whether the member left by their own choice, and must be invited.
create or replace function outbox_has_left(m members) returns boolean
language plpgsql stable as $$
begin
    return coalesce(m.status in ('left', 'removed') and coalesce(m.left_by_choice, m.status = 'left'), false);
end $$;

-- Checks a message that is new.
-- Fails: PY404 user_not_found, thread_not_found; PY403 account_suspended, not_joined, not_reachable; PY422 invalid; PY409
-- attachment_not_ready, attachment_refused.
create or replace function outbox_check_message(p_sender uuid, p_thread uuid, p_attachments uuid[]) returns void
language plpgsql stable as $$
declare
    v_refusal text;
begin
    perform outbox_check_user(p_sender, 'sender');
    perform outbox_check_sender(p_sender, p_thread);
    select min(attachment_verdict(a.id, p_sender)) into v_refusal from unnest(p_attachments) a (id);
    if v_refusal is not null then
        perform outbox_refuse_as(v_refusal);
    end if;
end $$;

-- Returns: the direct thread of two people, null if there is none, and whether the first of them has joined it.
-- Fails: PY404 user_not_found; PY403 account_suspended, not_reachable (the second person has blocked the first).
create or replace function outbox_check_direct(p_user uuid, p_other uuid, out thread_id uuid, out is_joined boolean)
language plpgsql stable as $$
begin
    perform outbox_check_user(p_user, 'a');
    perform outbox_check_user(p_other, 'b');
    thread_id := (select t.id from threads t
        where t.direct_low = least(p_user, p_other) and t.direct_high = greatest(p_user, p_other));
    is_joined := exists (select from members m
        where m.thread_id = outbox_check_direct.thread_id and m.user_id = p_user and m.status = 'joined');
    if not is_joined and exists (select from blocks x where x.blocked_id = p_user and x.user_id = p_other) then
        perform outbox_refuse_as('blocked');
    end if;
end $$;

-- Returns: whether the user is a member already.
-- Fails: PY404 user_not_found, thread_not_found; PY403 account_suspended, member_left; PY409 direct_members_fixed.
create or replace function outbox_check_member(p_thread uuid, p_user uuid) returns boolean
language plpgsql stable as $$
declare
    v_thread threads;
    v_member members;
begin
    perform outbox_check_user(p_user, 'user');
    select * into v_thread from threads t where t.id = p_thread;
    if not found then
        perform parley.outbox_refuse('PY404', 'thread_not_found', 'There is no such thread.');
    end if;
    select * into v_member from members m where m.thread_id = p_thread and m.user_id = p_user;
    if v_member.status = 'joined' then
        return true;
    elsif v_thread.kind = 'direct' then
        perform parley.outbox_refuse('PY409', 'direct_members_fixed', 'A direct thread always has the same two members.');
    elsif outbox_has_left(v_member) then
        perform parley.outbox_refuse('PY403', 'member_left',
            'This user left the thread by their own choice. A member can invite them.');
    end if;
    return false;
end $$;

-- Fails: PY404 user_not_found, PY403 account_suspended, unless the account is active. `p_name` is the argument.
create or replace function outbox_check_user(p_user uuid, p_name text) returns void
language plpgsql stable as $$
declare
    v_user users;
begin
    select * into v_user from users u where u.id = p_user;
    if not found or v_user.erased_at is not null then
        perform parley.outbox_refuse('PY404', 'user_not_found', format('%s: there is no such account.', p_name));
    elsif v_user.suspended_at is not null then
        perform parley.outbox_refuse('PY403', 'account_suspended', format('%s: this account is suspended.', p_name));
    end if;
end $$;

-- Fails: PY404 thread_not_found, PY403 not_joined, not_reachable, unless the sender may write. Rows that wait in the
-- outbox count: the same transaction may have added the sender.
create or replace function outbox_check_sender(p_sender uuid, p_thread uuid) returns void
language plpgsql stable as $$
declare
    v_member members;
begin
    select * into v_member from members m where m.thread_id = p_thread and m.user_id = p_sender;
    if v_member.status = 'joined' then
        if v_member.blocked then
            perform outbox_refuse_as('blocked');
        end if;
        return;
    end if;
    if exists (select from outbox o where o.thread_id = p_thread and o.message_id is null
        and p_sender in (o.user_id, o.other_id)) then
        return;
    elsif exists (select from threads t where t.id = p_thread) or exists (
        select from outbox o where o.thread_id = p_thread and o.message_id is null and o.kind = 'ensure_direct') then
        perform outbox_refuse_as('not_joined');
    end if;
    perform outbox_refuse_as('no_thread');
end $$;

-- Fails: always, with the problem for an outcome of message_append or attachment_verdict.
create or replace function outbox_refuse_as(p_outcome text) returns void
language plpgsql volatile as $$
declare
    v_refusal record := outbox_refusal(p_outcome);
begin
    perform parley.outbox_refuse('PY' || v_refusal.status, v_refusal.code, v_refusal.detail);
end $$;

-- Returns: the problem for an outcome of message_append; nulls for an outcome that is not a problem.
create or replace function outbox_refusal(p_outcome text, out status int, out code text, out detail text)
language sql immutable as $$
    select r.status, r.code, r.detail
    from (values
        ('conflict', 409, 'id_taken', 'Another message of this thread has this id. Use a new id.'),
        ('no_thread', 404, 'thread_not_found', 'There is no such thread.'),
        ('not_joined', 403, 'not_joined', 'The sender is not a member of this thread.'),
        ('blocked', 403, 'not_reachable', 'The other person has blocked the sender.'),
        ('no_attachment', 422, 'invalid',
            'payload.attachments must name attachments that the sender uploaded or can see.'),
        ('attachment_not_ready', 409, 'attachment_not_ready',
            'An attachment is still being uploaded or checked. Retry when its state is ready.'),
        ('attachment_refused', 409, 'attachment_refused',
            'The virus scanner refused an attachment. Send the message without it.')
    ) r (outcome, status, code, detail)
    where r.outcome = p_outcome
$$;

-- Returns: whether a message with this id is stored with this body; null without one.
create or replace function outbox_was_sent(
    p_sender uuid, p_thread uuid, p_message uuid, p_payload jsonb, p_body json, p_attachments uuid[]) returns boolean
language plpgsql stable as $$
declare
    v_message messages := message_find(p_thread, p_message);
begin
    if v_message.seq is null then
        return null;
    end if;
    return coalesce(v_message.sender_id = p_sender and (v_message.payload is null
        or (v_message.type = 'message' and v_message.reply_to is null and v_message.mentions = '{}'
            and (message_is_payload(v_message, p_body, p_attachments::text)
                or outbox_is_equal(message_sent(v_message), p_payload)))), false);
end $$;

-- Returns: whether a stored payload is the same JSON. A client may have written it in another order.
create or replace function outbox_is_equal(p_stored json, p_payload jsonb) returns boolean
language plpgsql stable as $$
begin
    return p_stored::jsonb = p_payload;
exception when data_exception then
    -- The json type keeps what jsonb cannot hold.
    return false;
end $$;
