-- Whom people have blocked: who can't write to them directly, open a direct thread with them, invite or add them.
-- locks: members (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

create table blocks (
    user_id uuid not null,
    blocked_id uuid not null,
    created_at timestamptz not null,
    primary key (user_id, blocked_id)
);
create index blocks_listed on blocks (user_id, created_at, blocked_id);
-- Most people are blocked by nobody: adding somebody asks here, once for all whom they add.
create index blocks_by_blocked on blocks (blocked_id, user_id);

-- In direct threads only, true or null: the other one has blocked this member, or this member the other one. They say what
-- `blocks` says, on rows that are read anyway, so that sending needs no look-up.
alter table members add column blocked boolean, add column blocks boolean;
