-- The pump of the outbox in Parley's own database, and what it could not handle.

-- Handles the next rows of the outbox: messages up to the first row of another kind, or that one row. It adds to the log
-- and deletes the rows in one transaction, so each is handled exactly once. With `p_limit` 1, and for a row of another
-- kind, an error becomes a failure of the row; otherwise the caller repeats the call with 1.
-- Returns: how many rows it handled, and how many of them failed. Zeros also while another node is at work: so the rows
-- of a thread keep their order.
-- Fails: as outbox_apply, with several messages; with one row, only what may succeed later.
-- Locks: the pump (returns if it is locked), the rows, then as outbox_apply
-- Costs: one index probe while the outbox is empty
create or replace function outbox_step(
    p_limit int, p_group_max int, p_room_max int, p_threads_max int, out handled int, out failed int)
language plpgsql volatile as $$
declare
    v_rows outbox[];
    v_codes text[];
    v_details text[];
    v_items int[];
    v_state text;
    v_message text;
    v_detail text;
    v_constraint text;
    v_at timestamptz;
begin
    handled := 0;
    failed := 0;
    if not exists (select from outbox) or not lock_row_free('outbox') then
        return;
    end if;
    v_rows := array(select o::outbox from (
        select * from outbox x order by x.seq limit p_limit for update skip locked) o order by o.seq);
    if v_rows = '{}' then
        return;
    end if;
    v_rows := v_rows[:greatest(1, (select count(*)::int from generate_subscripts(v_rows, 1) i
        where (v_rows[i]).kind = 'send' and not exists (
            select from generate_subscripts(v_rows, 1) k where k < i and (v_rows[k]).kind <> 'send')))];
    handled := cardinality(v_rows);
    begin
        select array_agg(a.item), array_agg(a.code), array_agg(a.detail) into v_items, v_codes, v_details
        from outbox_apply(
            array(select r.kind from unnest(v_rows) r order by r.seq),
            array(select r.thread_id from unnest(v_rows) r order by r.seq),
            array(select r.user_id from unnest(v_rows) r order by r.seq),
            array(select r.other_id from unnest(v_rows) r order by r.seq),
            array(select r.message_id from unnest(v_rows) r order by r.seq),
            array(select r.payload from unnest(v_rows) r order by r.seq),
            array(select r.attachments::text from unnest(v_rows) r order by r.seq),
            p_group_max, p_room_max, p_threads_max) a;
    exception when others then
        get stacked diagnostics v_state = returned_sqlstate, v_message = message_text, v_detail = pg_exception_detail,
            v_constraint = constraint_name;
        if handled > 1 or outbox_may_succeed(v_state, v_constraint) then
            raise;
        end if;
        v_items := array[1];
        v_codes := array[case when v_state like 'PY%' then v_message else 'internal_error' end];
        v_details := array[case when v_state like 'PY%' then v_detail else 'SQLSTATE ' || v_state end];
    end;
    failed := coalesce(cardinality(v_items), 0);
    v_at := clock_timestamp();
    insert into outbox_failures (
        id, kind, thread_id, user_id, other_id, message_id, payload, attachments, at, failed_at, code, detail)
    -- Ids in the order of the rows, for the list. A row takes longer than a microsecond, so the next call's come after.
    select uuid_v7(v_at + f.item * interval '1 us'), r.kind, r.thread_id, r.user_id, r.other_id, r.message_id,
        case when exists (select from users u where u.id = r.user_id and u.erased_at is null) then r.payload end,
        r.attachments, r.at, stamp(), f.code, f.detail
    from unnest(v_items, v_codes, v_details) f (item, code, detail)
    cross join lateral (select (v_rows[f.item]).*) r;
    delete from outbox o where o.seq = any (array(select r.seq from unnest(v_rows) r));
end $$;

-- Returns: whether an error may be gone at the next try: locks, timeouts, a full disk, a server that stops or is
-- read-only, a full partition of the log.
create or replace function outbox_may_succeed(p_state text, p_constraint text) returns boolean
language sql immutable as $$
    select p_state in ('55P03', '57014', '25P03', '40P01', '40001', '25006') or left(p_state, 2) in ('53', '57', '58')
        or p_state = '23514' and p_constraint = ''
$$;

-- Returns: a page of the failures, the latest first.
create or replace function outbox_failure_list(p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select json_build_object('id', f.id, 'kind', f.kind, 'thread_id', f.thread_id, 'user_id', f.user_id,
        'other_user_id', f.other_id, 'message_id', f.message_id, 'payload', f.payload, 'queued_at', rfc3339(f.at),
        'failed_at', rfc3339(f.failed_at), 'code', f.code, 'detail', f.detail)::text, 0::bigint, f.id
    from outbox_failures f where p_after_id is null or f.id < p_after_id order by f.id desc limit p_limit
$$;

-- Deletes a failed row, for an action that is recorded.
-- Returns: the row.
-- Fails: PY404 failure_not_found.
create or replace function outbox_failure_take(p_actor text, p_request text, p_admin_key uuid, p_failure uuid, p_action text)
returns outbox_failures
language plpgsql volatile as $$
declare
    v_failure outbox_failures;
begin
    delete from outbox_failures f where f.id = p_failure returning f.* into v_failure;
    if not found then
        perform refuse_unknown('failure');
    end if;
    perform audit_note(p_actor, p_request, p_admin_key, p_action, v_failure.user_id, v_failure.thread_id, v_failure.message_id);
    return v_failure;
end $$;

-- Puts a failed row back into the outbox, behind all that waits.
-- Fails: PY404 failure_not_found; PY409 failure_not_retryable (the sender has been erased).
-- Locks: the failure's row
create or replace function outbox_failure_retry(p_actor text, p_request text, p_admin_key uuid, p_failure uuid) returns void
language plpgsql volatile as $$
declare
    v_failure outbox_failures := outbox_failure_take(p_actor, p_request, p_admin_key, p_failure, 'outbox.retry');
begin
    if v_failure.kind = 'send' and v_failure.payload is null then
        perform refuse(409, 'failure_not_retryable',
            'The sender has been erased, and the message with them. Delete the failure instead.');
    end if;
    insert into outbox (kind, thread_id, user_id, other_id, message_id, payload, attachments, at)
    values (v_failure.kind, v_failure.thread_id, v_failure.user_id, v_failure.other_id, v_failure.message_id,
        v_failure.payload, v_failure.attachments, v_failure.at);
end $$;

-- Deletes a failed row.
-- Fails: PY404 failure_not_found.
create or replace function outbox_failure_delete(p_actor text, p_request text, p_admin_key uuid, p_failure uuid) returns void
language plpgsql volatile as $$
begin
    perform outbox_failure_take(p_actor, p_request, p_admin_key, p_failure, 'outbox.delete');
end $$;
