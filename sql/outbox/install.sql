-- The third part of an outbox in a database of another program, after the migration 0002_outbox.sql and
-- outbox_shape.sql: `parley outbox install` applies the three in one transaction. Parley's nodes read the outbox
-- (PARLEY_OUTBOX_URLS). All statements may run again.

-- The node that reads the outbox. No other node may read it before `until`, so the rows of a thread keep their order.
create table if not exists parley.outbox_lease (
    node text not null default '',
    until timestamptz not null default '-infinity',
    is_only boolean primary key default true check (is_only)
);
insert into parley.outbox_lease default values on conflict do nothing;

-- The functions by which outbox_shape.sql reads Parley's tables (sql/functions/outbox/outbox_write.sql). This database
-- has no such tables, so these functions check nothing: Parley checks when it reads the row.
create or replace function parley.outbox_thread(p_thread uuid) returns uuid
language sql stable as 'select p_thread';
create or replace function parley.outbox_was_sent(
    p_sender uuid, p_thread uuid, p_message uuid, p_payload jsonb, p_body json, p_attachments uuid[]) returns boolean
language sql stable as 'select null::boolean';
create or replace function parley.outbox_check_message(p_sender uuid, p_thread uuid, p_attachments uuid[]) returns void
language sql stable as '';
create or replace function parley.outbox_check_direct(p_user uuid, p_other uuid, out thread_id uuid, out is_joined boolean)
language sql stable as 'select null::uuid, false';
create or replace function parley.outbox_check_member(p_thread uuid, p_user uuid) returns boolean
language sql stable as 'select false';

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
