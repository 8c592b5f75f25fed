-- The changes feed: who caused an event, which events integrations see, and named consumers.
-- locks: events and its partitions, audit (access exclusive), for an instant
-- length: milliseconds: the columns are null in the rows that are there
-- breaking: no

-- From now on events.actor_id (migration 0022) is the acting user in events of all types; null for the server, and for
-- events that are about several users at once. Earlier events have it only where 0022 says so.
alter table events
    -- Whether integrations see the event (changes_read). Null: if it is for everyone, so if user_id is null. True: although
    -- it is for one user or for nobody. False: although it is for everyone, because another event says the same.
    add column is_change boolean;

-- Integrations that keep their cursor here. Everything up to the cursor is processed.
create table change_consumers (
    id uuid primary key,
    name text not null,
    epoch int not null,
    pos bigint not null,
    created_at timestamptz not null,
    -- When the cursor was last set.
    moved_at timestamptz not null
);
create unique index change_consumers_by_name on change_consumers (name);

-- What an action was done to, if that is neither a user nor a message: for a consumer its name.
alter table audit add column subject text;
