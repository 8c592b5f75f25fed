-- Bounds on what an account may write: how many threads it has, who left by their own choice, and announcements in
-- parts.
-- locks: members (access exclusive for an instant, then writers wait while the index is built)
-- length: about a second a million members
-- breaking: no

-- A row comes with an account's next thread; until then the members' rows are counted.
create table thread_counts (
    user_id uuid primary key,
    -- Threads that the account has joined or is invited to.
    count int not null
) with (fillfactor = 70);

-- Of those who left or were removed: whether they left, or declined, by their own choice, and have not been back since.
-- Null where it was not recorded yet: then who left has left by their own choice.
alter table members add column left_by_choice boolean;

-- Of the threads that an account has now: what it has left, which may be any number, costs its inbox nothing.
create index members_current on members (user_id, thread_id) where status in ('joined', 'invited');

-- What is still to be published of a change that concerns many threads or many invited (announcement.sql).
create table announcements (
    -- profile | thread
    kind text not null,
    -- The user, or the thread.
    subject_id uuid not null,
    -- The last thread, or the last invited user, that it was published to.
    after_id uuid,
    -- When something was last done here: the least lately comes next.
    at timestamptz not null,
    primary key (kind, subject_id)
);
create index announcements_next on announcements (at);
