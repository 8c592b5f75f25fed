-- Who is online where, and when people were seen last.
-- locks: users (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

-- Noted when somebody goes offline.
alter table users add column last_seen_at timestamptz;

-- The nodes that are there. One that isn't heard of for a while has gone, and with it all who were online there.
create table presence_nodes (
    node text primary key,
    seen_at timestamptz not null
);

-- Who polls at which node. A row comes and goes with somebody's being online there, and changes with nothing else.
create table presence (
    user_id uuid not null,
    node text not null,
    primary key (user_id, node)
);
create index presence_by_node on presence (node);
