-- Answers that are kept under the `Idempotency-Key` of a request. The transaction that creates something claims the key
-- first and keeps its answer last. So a key is kept exactly if the thing was created, whatever crashes. A message, and a
-- thread that existed, are kept by their ids alone, because the content of others must be in one place only: a repeat shows
-- them as they are.

-- Claims a key for a caller: a user, an admin key, or the nil UUID for all admin tokens. A repeat waits for a request
-- under way with the same key. `p_request` is a digest of the method, the path and the body. A key that is a day old
-- counts as new.
-- Returns: what is kept; nulls if the caller does the work in this transaction.
-- Fails: as idempotency_read.
-- Locks: the key (before everything else)
create or replace function idempotency_claim(
    p_caller uuid, p_key text, p_request bytea, p_now timestamptz default null, out status int, out body text)
language plpgsql volatile as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_kept idempotency_keys;
begin
    insert into idempotency_keys (caller_id, key, request, created_at) values (p_caller, p_key, p_request, v_now)
    on conflict do nothing;
    if found then
        return;
    end if;
    select * into v_kept from idempotency_keys k where k.caller_id = p_caller and k.key = p_key for no key update;
    if v_kept.created_at > v_now - interval '1 day' then
        select r.status, r.body into status, body from idempotency_read(v_kept, p_request) r;
        return;
    end if;
    -- The key has expired, or was deleted a moment ago.
    insert into idempotency_keys (caller_id, key, request, created_at) values (p_caller, p_key, p_request, v_now)
    on conflict (caller_id, key) do update set request = excluded.request, created_at = excluded.created_at,
        status = null, thread_id = null, message_id = null, body = null;
end $$;

-- Looks for a kept answer without claiming the key: most repeats need no more.
-- Returns: what is kept; nulls for a new key.
-- Fails: as idempotency_read.
create or replace function idempotency_find(
    p_caller uuid, p_key text, p_request bytea, p_now timestamptz default null, out status int, out body text)
language plpgsql stable as $$
declare
    v_kept idempotency_keys;
begin
    select * into v_kept from idempotency_keys k
    where k.caller_id = p_caller and k.key = p_key and k.created_at > coalesce(p_now, now()) - interval '1 day';
    select r.status, r.body into status, body from idempotency_read(v_kept, p_request) r;
end $$;

-- Returns: what is kept. Of a message or a thread that existed, what it is now.
-- Fails: PY422 idempotency_key_reused; PY404 thread_not_found (the thread was deleted, or the caller has left it).
create or replace function idempotency_read(k idempotency_keys, p_request bytea, out status int, out body text)
language plpgsql stable as $$
declare
    v_message messages;
begin
    if k.request <> p_request then
        perform refuse(422, 'idempotency_key_reused', 'This Idempotency-Key was used for another request, with another '
            || 'method, path or body. Use a new key for each request.');
    end if;
    status := k.status;
    body := k.body;
    if k.message_id is not null then
        v_message := message_find(k.thread_id, k.message_id);
        if v_message.seq is null then
            perform thread_refuse();
        end if;
        body := message_view(v_message);
    elsif k.thread_id is not null and exists (select from users u where u.id = k.caller_id) then
        body := thread_get(k.caller_id, k.thread_id);
    elsif k.thread_id is not null then
        body := admin_thread_get(k.thread_id);
    end if;
end $$;

-- Keeps the answer of a request whose key the caller has claimed: its body, or the message or thread that it shows.
create or replace function idempotency_keep(
    p_caller uuid, p_key text, p_status int, p_body text, p_thread uuid default null, p_message uuid default null)
returns void
language sql volatile as $$
    update idempotency_keys k set status = p_status, body = p_body, thread_id = p_thread, message_id = p_message
    where k.caller_id = p_caller and k.key = p_key
$$;

-- Keeps the answer to a sent message with this outcome of message_append. Of a refused one nothing is kept.
-- Returns: the status of the answer; null for a refused message.
create or replace function idempotency_keep_message(
    p_caller uuid, p_key text, p_outcome text, p_thread uuid, p_message uuid) returns int
language plpgsql volatile as $$
declare
    v_status int := case p_outcome when 'created' then 201 when 'exists' then 200 end;
begin
    if v_status is null then
        delete from idempotency_keys k where k.caller_id = p_caller and k.key = p_key;
    else
        perform idempotency_keep(p_caller, p_key, v_status, null, p_thread, p_message);
    end if;
    return v_status;
end $$;

-- Keeps the answer of a function that Store calls with a key, in the statement that claimed the key. `p_made` is null if
-- an answer was kept before, else {status, body, is_own}. The body of an answer that is not the caller's own alone is
-- that of a thread which existed.
-- Returns: the answer of the request, and whether it was kept before.
create or replace function idempotency_answer(
    p_caller uuid, p_key text, p_status int, p_body text, p_made json, out status int, out body text, out is_repeat boolean)
language plpgsql volatile as $$
begin
    is_repeat := p_made is null;
    if is_repeat then
        status := p_status;
        body := p_body;
        return;
    end if;
    status := p_made ->> 'status';
    body := p_made ->> 'body';
    if (p_made ->> 'is_own')::boolean then
        perform idempotency_keep(p_caller, p_key, status, body);
    else
        perform idempotency_keep(p_caller, p_key, status, null, (body::json ->> 'id')::uuid);
    end if;
end $$;

-- Deletes the kept answers of accounts that were erased, and those to others that show them.
-- Costs: a look at all kept answers, so at those of a day
create or replace function idempotency_forget(p_users uuid[]) returns void
language plpgsql volatile as $$
begin
    delete from idempotency_keys k where k.caller_id = any (p_users) or erasure_concerns(k.body, p_users::text[]);
end $$;

-- Deletes expired keys, at most `p_limit`. Runs on every node.
-- Returns: how many were deleted.
-- Locks: rows that are not locked by others
create or replace function idempotency_sweep(p_limit int, p_now timestamptz default null) returns int
language plpgsql volatile as $$
declare
    v_count int;
begin
    delete from idempotency_keys k using (
        select f.caller_id, f.key from idempotency_keys f where f.created_at <= coalesce(p_now, stamp()) - interval '1 day'
        order by f.created_at limit p_limit for update skip locked) e
    where k.caller_id = e.caller_id and k.key = e.key;
    get diagnostics v_count = row_count;
    return v_count;
end $$;
