-- Imports: archives that are being read into the database (docs/import-export.md).
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

-- An archive of which lines are staged. The row is deleted with its lines when the import has ended.
create table imports (
    id uuid primary key,
    -- SHA-256 of the file, by which `parley import` continues. Null for an import by HTTP, which begins again.
    digest bytea unique check (octet_length(digest) = 32),
    -- What is staged: bytes and lines from the beginning of the archive.
    bytes bigint not null default 0,
    lines bigint not null default 0,
    -- Whether the line `end` is among them.
    is_complete boolean not null default false,
    created_at timestamptz not null,
    -- The last part. An import that is not touched for long is abandoned.
    touched_at timestamptz not null
);

-- The staged lines, a table for each type, in typed columns for checks of all lines at once. Almost without indexes: each is
-- written once and read in whole. Logged: what was acknowledged survives a crash of the server.
create table import_users (
    import_id uuid not null,
    line bigint not null,
    id uuid not null,
    username text,
    username_key text,
    name text not null,
    words text[] not null,
    profile_image text,
    status_text text,
    email text,
    email_key text,
    external_id text,
    is_bot boolean,
    is_suspended boolean not null,
    is_erased boolean not null,
    preferences json not null,
    created_at timestamptz not null
);

create table import_blocks (
    import_id uuid not null,
    line bigint not null,
    user_id uuid not null,
    blocked_id uuid not null,
    created_at timestamptz not null
);

create table import_threads (
    import_id uuid not null,
    line bigint not null,
    id uuid not null,
    kind text not null,
    title text,
    room_key text,
    image text,
    keep_s int,
    direct_low uuid,
    direct_high uuid,
    created_at timestamptz not null
);

create table import_members (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    user_id uuid not null,
    role text not null,
    status text not null,
    joined_at timestamptz,
    invited_at timestamptz,
    invited_by uuid,
    read_seq bigint,
    read_at timestamptz,
    delivered_seq bigint,
    delivered_at timestamptz,
    muted_until timestamptz,
    archived boolean not null,
    pinned boolean not null,
    hidden_before_seq bigint not null,
    left_by_choice boolean
);

create table import_messages (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    -- As in the archive: null, or any number.
    seq bigint,
    id uuid not null,
    sender_id uuid,
    type text not null,
    payload json,
    -- The attachments of the payload, which has their ids alone. Null without any.
    attachments uuid[],
    reply_to uuid,
    mentions uuid[],
    created_at timestamptz not null,
    edited_at timestamptz,
    deleted_at timestamptz,
    expires_at timestamptz
);

create table import_versions (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    message_id uuid not null,
    version int not null,
    payload json,
    attachments uuid[],
    replaced_at timestamptz not null
);

create table import_reactions (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    message_id uuid not null,
    user_id uuid not null,
    emoji text collate "C" not null,
    created_at timestamptz not null
);

create table import_receipts (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    user_id uuid not null,
    kind text not null,
    seq bigint not null,
    at timestamptz not null
);

create table import_hides (
    import_id uuid not null,
    line bigint not null,
    thread_id uuid not null,
    user_id uuid not null,
    message_id uuid not null
);

create table import_attachments (
    import_id uuid not null,
    line bigint not null,
    id uuid not null,
    owner_id uuid not null,
    name text not null,
    declared_type text,
    media_type text,
    size bigint not null,
    digest bytea not null,
    width int,
    height int,
    thumbhash bytea,
    thumbnail_type text,
    thumbnail_size int,
    thumbnail_digest bytea,
    thumbnail_is_own boolean not null,
    created_at timestamptz not null
);

create table import_chunks (
    import_id uuid not null,
    line bigint not null,
    attachment_id uuid not null,
    variant smallint not null,
    n int not null,
    data bytea not null
);
alter table import_chunks alter column data set storage external;
create index import_chunks_by_file on import_chunks (import_id, attachment_id, variant, n);
