-- The role for other programs and its rights, as in sql/functions/zz_rights.sql. `parley outbox install` applies this
-- after install.sql, or alone in Parley's own database. Here a role that cannot be made is an error.
do $$
begin
    if to_regrole('parley_sender') is null then
        create role parley_sender nologin;
    end if;
exception when duplicate_object or unique_violation then
    null;
end $$;
grant usage on schema parley to parley_sender;
grant execute on function parley.send(uuid, uuid, jsonb, uuid), parley.ensure_direct(uuid, uuid),
    parley.add_member(uuid, uuid) to parley_sender;
