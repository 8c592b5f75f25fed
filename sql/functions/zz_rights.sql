-- Who may call what. Applied last, in the transaction that made the functions.

-- Nobody but the owner may call Parley's functions. PostgreSQL lets everybody call a new function. The functions of
-- this transaction are Parley's, and no others are: another program may share the schema and the user.
do $$
declare
    v_function regprocedure;
begin
    for v_function in select p.oid::regprocedure from pg_proc p where p.xmin = pg_current_xact_id()::xid loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
end $$;

-- The role for other programs. It may call three functions and nothing else. Roles belong to the whole server: another
-- database may have made it, or may be making it now. A user who may make no roles leaves it out; `parley outbox
-- install` with an administrator's URL adds it.
do $$
begin
    if to_regrole('parley_sender') is null then
        begin
            create role parley_sender nologin;
        exception when insufficient_privilege or duplicate_object or unique_violation then
            null;
        end;
    end if;
    if to_regrole('parley_sender') is not null then
        grant usage on schema parley to parley_sender;
        grant execute on function parley.send(uuid, uuid, jsonb, uuid), parley.ensure_direct(uuid, uuid),
            parley.add_member(uuid, uuid) to parley_sender;
    end if;
end $$;
