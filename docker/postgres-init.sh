#!/bin/sh
# PostgreSQL's image runs this script once, as the superuser, on a new data directory. It creates the role and the database of
# the nodes. The role owns its database and has no other right. The superuser loses its password and can then sign in only
# through the container's socket, so the nodes' password does not work for it.
set -eu

# psql reads the password from its environment: a command line is visible to every user of the machine.
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\getenv password POSTGRES_PASSWORD
create role parley login password :'password'
    nosuperuser nocreatedb nocreaterole noreplication;
-- For programs that send by SQL (docs/sql.md): it may connect, and has no other right yet.
create role parley_sender;
create database parley owner parley;
revoke connect on database parley, postgres, template1 from public;
grant connect on database parley to parley_sender;
-- Keep refusals (404, 409, …) out of PostgreSQL's log, where each would be an ERROR with its STATEMENT. The nodes log real
-- faults.
alter role parley set log_min_messages = 'log';
alter role parley set log_min_error_statement = 'panic';
alter role current_user password null;
SQL
