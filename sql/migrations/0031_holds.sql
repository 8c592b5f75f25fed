-- Legal holds: while one is in force, content that is removed or replaced is kept apart.
-- locks: attachment_uses, attachments (access exclusive; writers wait while two partial indexes are built)
-- length: about a second a million attachments
-- breaking: no

create table holds (
    id uuid primary key,
    name text not null,
    reason text,
    -- The hold covers what this user sent, or all messages of this thread.
    user_id uuid,
    thread_id uuid,
    created_at timestamptz not null,
    -- Null while it is in force.
    released_at timestamptz,
    -- How far the sweep has erased what only this hold covered, and when it was done.
    walked bigint not null default 0,
    erased_at timestamptz,
    check ((user_id is null) <> (thread_id is null))
);
create index holds_in_force on holds (id) where released_at is null;
create index holds_of_users on holds (user_id) where released_at is null and user_id is not null;
create index holds_of_threads on holds (thread_id) where released_at is null and thread_id is not null;
create index holds_to_sweep on holds (released_at) where released_at is not null and erased_at is null;

-- Content that was removed from messages or replaced by an edit. A row is for all holds that cover the message. It has
-- no reference to the message, so it stays whatever becomes of that.
create table held_contents (
    n bigint generated always as identity primary key,
    thread_id uuid not null,
    seq bigint not null,
    -- Counts the message's payloads from 0, as message_edits does.
    version int not null,
    message_id uuid not null,
    -- Null: made by the server.
    sender_id uuid,
    type text not null,
    sent_at timestamptz not null,
    payload json not null,
    removal text not null check (removal in ('edited', 'deleted', 'expired', 'erased')),
    removed_at timestamptz not null,
    unique (thread_id, seq, version)
);
create index held_contents_by_thread on held_contents (thread_id, n);
create index held_contents_by_sender on held_contents (sender_id, n);

-- The names of erased accounts that sent held messages.
create table held_users (
    user_id uuid primary key,
    username text,
    name text not null,
    external_id text
);

-- The key that signs exports, made once.
create table export_keys (
    -- 32 bytes: the seed of an Ed25519 key.
    seed bytea not null check (octet_length(seed) = 32),
    created_at timestamptz not null,
    is_only boolean primary key default true check (is_only)
);

-- held: a message that was withdrawn under a hold. Nobody sees an attachment by such a use.
alter table attachment_uses drop constraint attachment_uses_kind_check;
alter table attachment_uses add constraint attachment_uses_kind_check
    check (kind in ('message', 'thread', 'profile', 'held'));

-- 5 held: as deleted to everyone, but only holds use it, and the bytes stay until these are released.
alter table attachments drop constraint attachments_state_check;
alter table attachments add constraint attachments_state_check check (state between 0 and 5);
create index attachments_held on attachments (id) include (size) where state = 5;
drop index attachments_here;
drop index attachments_moved;
create index attachments_here on attachments (lease_until)
    where state in (2, 5) and not (is_moved and (thumbnail_is_moved or thumbnail_digest is null));
create index attachments_moved on attachments (lease_until)
    where state in (2, 5) and (is_moved or thumbnail_is_moved);
