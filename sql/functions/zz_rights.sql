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

-- A user who may make no roles leaves out the one for other programs: `parley outbox install` with an administrator's URL
-- adds it.
do $$
begin
    perform parley.outbox_grant();
exception when insufficient_privilege then
    null;
end $$;
