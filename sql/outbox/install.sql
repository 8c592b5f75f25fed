-- The outbox in a database of another program, made by `parley outbox install` in one transaction with the functions of
-- outbox_shape.sql. Parley's nodes read it (PARLEY_OUTBOX_URLS). The tables are those of Parley's own
-- database. Everything may be applied again.

create table if not exists parley.outbox (
    seq bigint generated always as identity primary key,
    kind text not null check (kind in ('send', 'add_member', 'ensure_direct')),
    thread_id uuid not null,
    user_id uuid not null,
    other_id uuid,
    message_id uuid,
    payload json,
    attachments uuid[],
    at timestamptz not null default clock_timestamp()
);
create index if not exists outbox_by_thread on parley.outbox (thread_id, message_id);

create table if not exists parley.outbox_failures (
    id uuid primary key default gen_random_uuid(),
    kind text not null,
    thread_id uuid not null,
    user_id uuid not null,
    other_id uuid,
    message_id uuid,
    payload json,
    attachments uuid[],
    at timestamptz not null,
    failed_at timestamptz not null default clock_timestamp(),
    code text not null,
    detail text not null
);
create index if not exists outbox_failures_by_user on parley.outbox_failures (user_id);

create table if not exists parley.outbox_limits (
    text_bytes_max int not null default 16384,
    payload_bytes_max int not null default 65536,
    is_only boolean primary key default true check (is_only)
);
insert into parley.outbox_limits default values on conflict do nothing;

-- The node that reads the outbox. Until `until` no other node may: so the rows of a thread keep their order.
create table if not exists parley.outbox_lease (
    node text not null default '',
    until timestamptz not null default '-infinity',
    is_only boolean primary key default true check (is_only)
);
insert into parley.outbox_lease default values on conflict do nothing;

-- Sends a message. Parley checks later what this database cannot know.
-- Returns: the message's id.
-- Fails: PY422 invalid; PY409 id_taken (by a message that still waits).
create or replace function parley.send(sender uuid, thread uuid, payload jsonb, id uuid default gen_random_uuid()) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    v_body json;
    v_attachments uuid[];
    v_waiting parley.outbox;
begin
    perform parley.outbox_require('sender, thread and id',
        sender is not null and thread is not null and id is not null);
    select p.body, p.attachments into v_body, v_attachments from parley.outbox_payload(payload) p;
    select * into v_waiting from parley.outbox o where o.thread_id = thread and o.message_id = id order by o.seq limit 1;
    if found then
        if v_waiting.user_id <> sender or v_waiting.payload::text <> v_body::text then
            perform parley.outbox_refuse('PY409', 'id_taken',
                'Another message of this thread has this id. Use a new id.');
        end if;
        return id;
    end if;
    insert into parley.outbox (kind, thread_id, user_id, message_id, payload, attachments)
    values ('send', thread, sender, id, v_body, v_attachments);
    return id;
end $$;

-- Makes sure that the two people have a direct thread.
-- Returns: an id of the thread for parley.send.
-- Fails: PY422 invalid.
create or replace function parley.ensure_direct(a uuid, b uuid) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    v_thread uuid := parley.outbox_direct_id(a, b);
begin
    perform parley.outbox_require('a and b', a is not null and b is not null);
    if a = b then
        perform parley.outbox_refuse('PY422', 'invalid', 'a and b must be two different people.');
    end if;
    if not exists (select from parley.outbox o
        where o.thread_id = v_thread and o.message_id is null and o.kind = 'ensure_direct' and o.user_id = a) then
        insert into parley.outbox (kind, thread_id, user_id, other_id) values ('ensure_direct', v_thread, a, b);
    end if;
    return v_thread;
end $$;

-- Adds a member to a group or room.
-- Fails: PY422 invalid.
create or replace function parley.add_member(thread uuid, "user" uuid) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
    v_user uuid := "user";
begin
    perform parley.outbox_require('thread and user', thread is not null and v_user is not null);
    insert into parley.outbox (kind, thread_id, user_id) values ('add_member', thread, v_user);
end $$;

-- Claims the outbox for a node, or extends its claim, and sets the limits that parley.send checks.
-- Returns: the next rows in their order; none while another node has the claim.
-- Locks: the lease's row, for the call
-- Costs: one index probe while the outbox is empty
create or replace function parley.outbox_read(
    p_node text, p_limit int, p_lease_s int, p_text_bytes_max int, p_payload_bytes_max int) returns setof parley.outbox
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    perform parley.outbox_configure(p_text_bytes_max, p_payload_bytes_max);
    if not exists (select from parley.outbox) then
        return;
    end if;
    update parley.outbox_lease l set node = p_node, until = clock_timestamp() + p_lease_s * interval '1 s'
    where l.node = p_node or l.until < clock_timestamp();
    if not found then
        return;
    end if;
    return query select o.* from parley.outbox o order by o.seq limit p_limit;
end $$;

-- Deletes rows that were handled. Those with an entry in `p_failed` become failures.
create or replace function parley.outbox_settle(p_seqs bigint[], p_failed bigint[], p_codes text[], p_details text[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into parley.outbox_failures (
        kind, thread_id, user_id, other_id, message_id, payload, attachments, at, code, detail)
    select o.kind, o.thread_id, o.user_id, o.other_id, o.message_id, o.payload, o.attachments, o.at, f.code, f.detail
    from unnest(p_failed, p_codes, p_details) f (seq, code, detail)
    join parley.outbox o on o.seq = f.seq for update of o;
    delete from parley.outbox o where o.seq = any (p_seqs);
end $$;

-- The whole schema belongs to the user who installs it: functions can be called by nobody else, except the three.
do $$
declare
    v_function regprocedure;
begin
    for v_function in select p.oid::regprocedure from pg_proc p where p.pronamespace = 'parley'::regnamespace loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
end $$;
