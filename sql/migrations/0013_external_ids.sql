-- Accounts that the host app's tokens sign in: by that app's id of the user.
-- locks: users, against everything, for as long as the index takes to build over the accounts (a column without a
-- default rewrites nothing)
-- length: milliseconds; with a million accounts about a second
-- breaking: no

-- The token's `sub`. Null for accounts that sign in another way.
alter table users add column external_id text;
create unique index users_by_external_id on users (external_id) where external_id is not null;
