-- Reports: what people bring before the moderators, a message or a person. A report of a message has a copy of what the
-- message said then, so that an edit hides nothing.

-- Returns: a report as its reporter sees it.
create or replace function report_json(r reports) returns json
language sql stable as $$
    select json_build_object('id', r.id, 'state', r.state, 'reason', r.reason, 'user_id', r.user_id,
        'thread_id', r.thread_id, 'message_id', r.message_id, 'created_at', rfc3339(r.created_at))
$$;

-- Returns: a report as administrators see it: with the reporter, the reported person, and the message as it was.
create or replace function report_admin_json(r reports) returns text
language plpgsql stable as $$
declare
    v_sender users;
begin
    select * into v_sender from users u where u.id = r.user_id;
    return json_build_object('id', r.id, 'state', r.state, 'reason', r.reason, 'user_id', r.user_id,
        'thread_id', r.thread_id, 'message_id', r.message_id, 'created_at', rfc3339(r.created_at),
        'closed_at', rfc3339(r.closed_at),
        'reporter', (select user_json(u) from users u where u.id = r.reporter_id),
        'user', case when r.user_id is not null then user_json(v_sender) end,
        'message', case when r.payload is not null then message_json(r.thread_id, r.seq, r.message_id, r.user_id,
            v_sender.name, v_sender.profile_image, r.type, r.payload, null, '{}', r.sent_at, r.edited_at, null, null)::json
            end)::text;
end $$;

-- Reports a message, or a person (`p_user`). An open report of the same caller about the same is returned instead.
-- Returns: the report as JSON text, and whether it is new.
-- Fails: as message_get, so PY404 and PY403 for what the caller does not see; PY404 user_not_found; PY409
-- message_deleted (nothing is left to look at); PY401 invalid_token (the account was erased meanwhile).
-- Locks: the thread, so that content which is being withdrawn is not copied; the caller's row, so that two calls at the
-- same time make one report, and none is made for an account that is being erased
create or replace function report_create(
    p_report uuid, p_reporter uuid, p_thread uuid, p_message uuid, p_user uuid, p_reason text
) returns table (report text, created boolean)
language plpgsql volatile as $$
declare
    v_message messages;
    v_report reports;
begin
    if p_message is not null then
        perform thread_lock_joined(p_thread, p_reporter);
    end if;
    perform from users u where u.id = p_reporter and u.erased_at is null for no key update;
    if not found then
        perform caller_refuse();
    end if;
    if p_message is not null then
        v_message := message_of(member_joined(p_thread, p_reporter), p_message);
        if v_message.payload is null then
            perform refuse(409, 'message_deleted', 'This message was deleted.');
        end if;
    else
        perform user_require(p_user);
    end if;
    select * into v_report from reports r
    where r.reporter_id = p_reporter and r.state = 'open' and r.thread_id is not distinct from p_thread
        and r.message_id is not distinct from p_message and (p_message is not null or r.user_id = p_user)
    order by r.id limit 1;
    created := not found;
    if created then
        insert into reports (id, created_at, reporter_id, reason, user_id, thread_id, message_id, seq, sent_at, edited_at,
            type, payload)
        values (p_report, stamp(), p_reporter, p_reason, coalesce(p_user, v_message.sender_id), p_thread, p_message,
            v_message.seq, v_message.created_at, v_message.edited_at, v_message.type, v_message.payload)
        returning * into v_report;
    end if;
    report := report_json(v_report)::text;
    return next;
end $$;

-- Returns: a page of the reports in a state, or of all with null, the newest first.
create or replace function report_list(p_state text, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
begin
    if p_state is null then
        return query select report_admin_json(r), 0::bigint, r.id
            from reports r where p_after_id is null or r.id < p_after_id order by r.id desc limit p_limit;
    else
        return query select report_admin_json(r), 0::bigint, r.id
            from reports r where r.state = p_state and (p_after_id is null or r.id < p_after_id)
            order by r.state desc, r.id desc limit p_limit;
    end if;
end $$;

-- Closes or reopens a report. The copy of a message that was deleted meanwhile goes with its closing.
-- Returns: the report as JSON text.
-- Fails: PY404 report_not_found.
-- Locks: the holds (hold_enter), the report
create or replace function report_put(p_actor text, p_request text, p_admin_key uuid, p_report uuid, p_state text) returns text
language plpgsql volatile as $$
declare
    v_report reports;
    v_are_holds boolean := hold_enter();
begin
    select * into v_report from reports r where r.id = p_report for no key update;
    if not found then
        perform refuse_unknown('report');
    elsif v_report.state <> p_state then
        if v_are_holds and p_state <> 'open' then
            perform hold_keep_reports(array[v_report]);
        end if;
        update reports r set state = p_state, closed_at = case when p_state <> 'open' then stamp() end,
            payload = case when p_state = 'open' or r.message_id is null
                or (message_find(r.thread_id, r.message_id)).payload is not null then r.payload end
        where r.id = p_report returning r.* into v_report;
        perform audit_note(p_actor, p_request, p_admin_key,
            'report.' || case p_state when 'open' then 'reopen' when 'resolved' then 'resolve' else 'dismiss' end,
            v_report.user_id, v_report.thread_id, v_report.message_id);
    end if;
    return report_admin_json(v_report);
end $$;

-- Deletes the copies of messages whose content is withdrawn. With `p_with_open` also from open reports, as for content
-- that expires. Otherwise a sender could delete what they were reported for before a moderator has seen it.
-- Locks: the holds (hold_enter), the reports
-- Costs: an index probe a message
create or replace function report_forget(p_threads uuid[], p_seqs bigint[], p_with_open boolean) returns void
language plpgsql volatile as $$
begin
    if hold_enter() then
        perform hold_keep_reports(array(select r from unnest(p_threads, p_seqs) x (thread_id, seq)
            join reports r on r.thread_id = x.thread_id and r.seq = x.seq
            where r.payload is not null and (p_with_open or r.state <> 'open')));
    end if;
    update reports r set payload = null from unnest(p_threads, p_seqs) x (thread_id, seq)
    where r.thread_id = x.thread_id and r.seq = x.seq and r.payload is not null and (p_with_open or r.state <> 'open');
end $$;

-- Removes an account from all reports: what it has sent, and that it was the reporter.
-- Locks: the holds (hold_enter), the reports
create or replace function report_forget_account(p_user uuid) returns void
language plpgsql volatile as $$
begin
    if hold_enter() then
        perform hold_keep_reports(array(select r from reports r where r.user_id = p_user and r.payload is not null));
    end if;
    update reports r set payload = null where r.user_id = p_user and r.payload is not null;
    update reports r set reporter_id = null, reason = null where r.reporter_id = p_user;
end $$;

-- Returns: how many reports are open, counted up to `p_max`.
create or replace function report_count(p_max int) returns bigint
language plpgsql stable as $$
begin
    return (select count(*) from (select from reports r where r.state = 'open' limit p_max) x);
end $$;
