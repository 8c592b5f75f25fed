-- Attachments: uploaded files, their bytes, and what uses them.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

-- The numbers of turns and claims (attachments.turn, attachments.claim). A number is never used twice, so an old
-- request cannot write to an upload that was deleted and begun again with the same id.
create sequence attachment_turns;

create table attachments (
    id uuid primary key,
    owner_id uuid not null,
    name text not null,
    -- As the client said. Null if it did not.
    declared_type text,
    -- 0 receiving, 1 checking, 2 ready, 3 refused, 4 deleted: the bytes are being erased, and nobody sees it any more.
    state smallint not null default 0 check (state between 0 and 4),
    -- The request that may append: the one that took the last number.
    turn bigint not null,
    -- Bytes that have arrived, as uploaded.
    received bigint not null default 0,
    received_at timestamptz not null,
    -- The declared total. Null if there was none.
    length bigint,
    -- For how long it is kept unused, or unfinished after its last byte.
    unused_s int not null,
    -- When it is deleted, at the earliest. Null while something uses it; infinity while it is being checked.
    due_at timestamptz,
    -- The worker that checks or moves it: the one that took the last number. Until lease_until no other may claim it.
    claim bigint not null default 0,
    lease_until timestamptz not null default '-infinity',
    -- Checks since the last one whose node recorded an outcome. Their nodes ended in the middle.
    checks smallint not null default 0,
    -- What the account's quota counts. Unfinished uploads count by received and length instead.
    stored_bytes bigint not null default 0,
    -- SHA-256 of the bytes as uploaded. Null until it is known.
    uploaded_digest bytea,
    -- What is served. Null until it is ready. The digest is SHA-256; width and height are as displayed.
    media_type text,
    size bigint,
    digest bytea,
    width int,
    height int,
    thumbhash bytea,
    thumbnail_type text,
    thumbnail_size int,
    thumbnail_digest bytea,
    -- Whether the owner uploaded the thumbnail.
    thumbnail_is_own boolean not null default false,
    -- Whether the bytes are in the object store.
    is_moved boolean not null default false,
    thumbnail_is_moved boolean not null default false,
    created_at timestamptz not null
) with (fillfactor = 70);
-- An account's attachments, and their bytes without reading the rows.
create index attachments_by_owner on attachments (owner_id, id) include (stored_bytes);
create index attachments_unused on attachments (owner_id) where due_at is not null;
create index attachments_due on attachments (due_at) where due_at < 'infinity';
create index attachments_to_check on attachments (lease_until) where state = 1;
create index attachments_here on attachments (lease_until)
    where state = 2 and not (is_moved and (thumbnail_is_moved or thumbnail_digest is null));
create index attachments_moved on attachments (lease_until) where state = 2 and (is_moved or thumbnail_is_moved);

-- The bytes. All chunks of a variant but the last have 256 KiB.
create table attachment_chunks (
    attachment_id uuid not null,
    -- 0 original, 1 thumbnail, 2 the original without metadata while it is being written.
    variant smallint not null,
    n int not null,
    data bytea not null check (octet_length(data) <= 262144),
    primary key (attachment_id, variant, n)
) with (toast.autovacuum_vacuum_scale_factor = 0.05);
-- Not compressed: pictures and videos are already, and a part of a chunk can be read alone.
alter table attachment_chunks alter column data set storage external;

-- What uses an attachment. When the last use is deleted, so is the attachment.
create table attachment_uses (
    attachment_id uuid not null,
    -- message | thread | profile: a message, or the picture of a thread or of a user.
    kind text not null check (kind in ('message', 'thread', 'profile')),
    -- The thread, or the user.
    holder_id uuid not null,
    -- Of the message; 0 for pictures.
    seq bigint not null default 0,
    -- False after an edit that dropped it: earlier versions are kept, but nobody may see the attachment by this use.
    is_current boolean not null default true,
    -- Whether the message expires, or is kept until it is delivered.
    is_transient boolean not null default false,
    primary key (attachment_id, kind, holder_id, seq)
);
create index attachment_uses_by_holder on attachment_uses (holder_id, seq);

-- Which devices have the whole file, as far as messages wait for that.
create table attachment_receipts (
    attachment_id uuid not null,
    session_id uuid not null,
    user_id uuid not null,
    primary key (attachment_id, session_id)
);
create index attachment_receipts_by_session on attachment_receipts (session_id);

-- Messages that every device has, but not all of their files.
create table undelivered_files (
    thread_id uuid not null,
    seq bigint not null,
    -- When the content was written: for whom came later it doesn't wait.
    at timestamptz not null,
    primary key (thread_id, seq)
);

-- Keys of the object store to delete. A key that is being written has a row, too, so that a crash leaves no object.
create table attachment_garbage (
    key text primary key,
    next_at timestamptz not null,
    -- Tries to delete it.
    attempts int not null default 0
);
create index attachment_garbage_due on attachment_garbage (next_at);

-- Where all attachments belong: in the object store, if there is one, or in PostgreSQL.
create table attachment_place (
    is_store boolean not null default true,
    is_only boolean primary key default true check (is_only)
);
insert into attachment_place default values;
