#!/bin/sh
# Run once by PostgreSQL's image, as the superuser, on a new data directory: makes the role and the database that the nodes
# use. The role owns its database and has no other right. The superuser loses its password, so that the nodes' password is
# of no use for it: it signs in on the container's own socket only.
set -eu

psql --no-psqlrc --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" \
    --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
create role parley login password :'password'
    nosuperuser nocreatedb nocreaterole noreplication;
create database parley owner parley;
revoke connect on database postgres, template1 from public;
-- Refusals are answers of the service: in the log each would be an ERROR with its STATEMENT. Real faults are logged by the
-- nodes.
alter role parley set log_min_messages = 'log';
alter role parley set log_min_error_statement = 'panic';
alter role current_user password null;
SQL
