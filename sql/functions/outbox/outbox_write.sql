-- The functions for other programs on Parley's database. They check what can be checked and add a row to the outbox, in
-- the caller's transaction: an open transaction must never hold a lock of Parley's. docs/sql.md describes them. They run
-- with the rights of their owner, and with the search path of the time when they were made.

-- Sends a message. The same id with the same body again changes nothing.
-- Returns: the message's id.
-- Fails: PY422 invalid; PY404 user_not_found, thread_not_found; PY403 account_suspended, not_joined, not_reachable; PY409
-- id_taken, attachment_not_ready, attachment_refused.
create or replace function parley.send(sender uuid, thread uuid, payload jsonb, id uuid default gen_random_uuid()) returns uuid
language plpgsql volatile security definer
set search_path from current set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_variable
declare
    v_thread uuid;
    v_body json;
    v_attachments uuid[];
    v_refusal text;
begin
    perform parley.outbox_require('sender, thread and id',
        sender is not null and thread is not null and id is not null);
    select p.body, p.attachments into v_body, v_attachments from parley.outbox_payload(payload) p;
    v_thread := outbox_thread(thread);
    if outbox_was_sent(sender, v_thread, id, payload, v_body, v_attachments) then
        return id;
    end if;
    perform outbox_check_user(sender, 'sender');
    perform outbox_check_sender(sender, v_thread);
    select min(attachment_verdict(a.id, sender)) into v_refusal from unnest(v_attachments) a (id);
    if v_refusal is not null then
        perform outbox_refuse_as(v_refusal);
    end if;
    insert into outbox (kind, thread_id, user_id, message_id, payload, attachments)
    values ('send', v_thread, sender, id, v_body, v_attachments);
    return id;
end $$;

-- Makes sure that the two people have a direct thread, which the first one has joined.
-- Returns: the thread's id. Messages to it can be sent in the same transaction.
-- Fails: PY422 invalid; PY404 user_not_found; PY403 account_suspended, not_reachable (the second person has blocked the
-- first).
create or replace function parley.ensure_direct(a uuid, b uuid) returns uuid
language plpgsql volatile security definer
set search_path from current set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_variable
declare
    v_thread uuid;
begin
    perform parley.outbox_require('a and b', a is not null and b is not null);
    if a = b then
        perform parley.outbox_refuse('PY422', 'invalid', 'a and b must be two different people.');
    end if;
    perform outbox_check_user(a, 'a');
    perform outbox_check_user(b, 'b');
    select t.id into v_thread from threads t where t.direct_low = least(a, b) and t.direct_high = greatest(a, b);
    if v_thread is not null and exists (select from members m
        where m.thread_id = v_thread and m.user_id = a and m.status = 'joined') then
        return v_thread;
    end if;
    if exists (select from blocks x where x.blocked_id = a and x.user_id = b) then
        perform outbox_refuse_as('blocked');
    end if;
    v_thread := coalesce(v_thread, parley.outbox_direct_id(a, b));
    if not exists (select from outbox o
        where o.thread_id = v_thread and o.message_id is null and o.kind = 'ensure_direct' and o.user_id = a) then
        insert into outbox (kind, thread_id, user_id, other_id) values ('ensure_direct', v_thread, a, b);
    end if;
    return v_thread;
end $$;

-- Adds a member to a group or room. Adding a member again changes nothing.
-- Fails: PY422 invalid; PY404 user_not_found, thread_not_found; PY403 account_suspended, member_left; PY409
-- direct_members_fixed.
create or replace function parley.add_member(thread uuid, "user" uuid) returns void
language plpgsql volatile security definer
set search_path from current set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_variable
declare
    v_user uuid := "user";
    v_thread threads;
    v_member members;
begin
    perform parley.outbox_require('thread and user', thread is not null and v_user is not null);
    perform outbox_check_user(v_user, 'user');
    select * into v_thread from threads t where t.id = thread;
    if not found then
        perform parley.outbox_refuse('PY404', 'thread_not_found', 'There is no such thread.');
    end if;
    select * into v_member from members m where m.thread_id = thread and m.user_id = v_user;
    if v_member.status = 'joined' then
        return;
    elsif v_thread.kind = 'direct' then
        perform parley.outbox_refuse('PY409', 'direct_members_fixed', 'A direct thread always has the same two members.');
    elsif outbox_has_left(v_member) then
        perform parley.outbox_refuse('PY403', 'member_left',
            'This user left the thread by their own choice. A member can invite them.');
    end if;
    insert into outbox (kind, thread_id, user_id) values ('add_member', thread, v_user);
end $$;

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

-- Fails: PY404 thread_not_found, PY403 not_joined, not_reachable, unless the sender may write. What waits in the outbox
-- counts: the same transaction may have added the sender.
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

-- Fails: always, as an outcome of message_append or attachment_verdict says.
create or replace function outbox_refuse_as(p_outcome text) returns void
language plpgsql volatile as $$
declare
    v_refusal record := outbox_refusal(p_outcome);
begin
    perform parley.outbox_refuse('PY' || v_refusal.status, v_refusal.code, v_refusal.detail);
end $$;

-- Returns: the problem for an outcome of message_append; nulls for an outcome that is none.
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

-- Returns: whether this message was sent before, or waits in the outbox.
-- Fails: PY409 id_taken if another message has the id.
create or replace function outbox_was_sent(
    p_sender uuid, p_thread uuid, p_message uuid, p_payload jsonb, p_body json, p_attachments uuid[]) returns boolean
language plpgsql stable as $$
declare
    v_waiting outbox;
    v_message messages;
    v_is_same boolean;
begin
    select * into v_waiting from outbox o
    where o.thread_id = p_thread and o.message_id = p_message order by o.seq limit 1;
    if found then
        v_is_same := v_waiting.user_id = p_sender and v_waiting.payload::text = p_body::text;
    else
        v_message := message_find(p_thread, p_message);
        if v_message.seq is null then
            return false;
        end if;
        v_is_same := v_message.sender_id = p_sender and (v_message.payload is null
            or (v_message.type = 'message' and v_message.reply_to is null and v_message.mentions = '{}'
                and (message_is_payload(v_message, p_body, p_attachments::text)
                    or outbox_is_equal(message_sent(v_message), p_payload))));
    end if;
    if not coalesce(v_is_same, false) then
        perform outbox_refuse_as('conflict');
    end if;
    return true;
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
