-- Accounts and sessions.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

create table users (
    id uuid primary key,
    -- As typed; `username_key` is its case-folded form and what must be unique.
    username text,
    username_key text unique,
    name text not null,
    profile_image text,
    status_text text,
    preferences json not null default '{}',
    -- A PHC string ($scrypt$…). Null for accounts that sign in another way.
    password_hash text,
    created_at timestamptz not null
);

-- The words of each user's name and the username, folded by the service: the directory is a range scan on a prefix.
-- Collation "C" so that a prefix is a range whatever the database's locale.
create table user_words (
    word text collate "C" not null,
    user_id uuid not null,
    primary key (word, user_id)
);
create index user_words_by_user on user_words (user_id);

create table sessions (
    id uuid primary key,
    user_id uuid not null,
    -- SHA-256 of the token; the token itself is shown once and never stored.
    token_digest bytea not null unique,
    device_name text,
    created_at timestamptz not null,
    last_used_at timestamptz not null
);
create index sessions_by_user on sessions (user_id);
