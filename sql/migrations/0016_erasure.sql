-- Erasing accounts, and giving out all that is kept of one.
-- locks: users (access exclusive), for an instant; message_reactions (share: nobody reacts) while its index is made
-- length: a second a million reactions
-- breaking: no

-- An account that was erased leaves its row behind, for the messages that stay: without name, address and password.
alter table users add column erased_at timestamptz;

create index message_reactions_by_user on message_reactions (user_id, thread_id, seq);

-- What is left to do of an erasure after the call; rows go when it is done.
create table erasures (
    user_id uuid primary key,
    erases_messages boolean not null,
    -- The log was gone through up to here.
    pos bigint not null default 0
);
create table erasure_threads (
    user_id uuid not null,
    thread_id uuid not null,
    -- When something was last done here: the least lately comes next.
    at timestamptz not null,
    -- leave | notices (messages of the service that name the user) | messages
    step text not null default 'leave',
    -- How far that step is.
    seq bigint not null default 0,
    primary key (user_id, thread_id)
);
create index erasure_threads_next on erasure_threads (at);
