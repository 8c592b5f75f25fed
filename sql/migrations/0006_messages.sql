-- Edits, reactions, and messages that members deleted for themselves alone.
-- locks: members, messages (access exclusive), for an instant; all tables are new
-- length: milliseconds
-- breaking: no

-- What messages said before they were edited: kept for those who run the service, shown to nobody else.
create table message_edits (
    thread_id uuid not null,
    seq bigint not null,
    -- 0 is what was sent.
    version int not null,
    -- Null for the older ones of very many.
    payload json,
    -- When the next version took its place, and where the message.updated that says so is in the log: withdrawing the
    -- content finds it there too.
    replaced_at timestamptz not null,
    pos bigint not null,
    primary key (thread_id, seq, version)
);

create table message_reactions (
    thread_id uuid not null,
    seq bigint not null,
    user_id uuid not null,
    emoji text collate "C" not null,
    created_at timestamptz not null,
    primary key (thread_id, seq, user_id, emoji)
);
-- How many have reacted with each, so that reading a message costs the same however many they are.
create table message_reaction_counts (
    thread_id uuid not null,
    seq bigint not null,
    emoji text collate "C" not null,
    count int not null,
    created_at timestamptz not null,
    primary key (thread_id, seq, emoji)
) with (fillfactor = 80);
-- Whether anybody ever has: messages without reactions, nearly all, are read without a look for any. Null until then,
-- which takes no room in a row.
alter table messages add column reacted boolean;

-- Messages that a member doesn't see any more, though all others do.
create table message_hides (
    thread_id uuid not null,
    user_id uuid not null,
    seq bigint not null,
    primary key (thread_id, user_id, seq)
);
-- Whether the member has any in this thread: counting for all others is done without a look for them.
alter table members add column hides boolean not null default false;
