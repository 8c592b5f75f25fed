-- Bots, incoming hooks and reports.
-- locks: users and members (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

-- True or null: the account is a program. It has no unread messages, alerts, marks, typing or presence, and its sessions do not
-- expire. Set when the account is made, and never changed. A member's row says the same, because the functions that count read
-- that row anyway.
alter table users add column is_bot boolean;
alter table members add column is_bot boolean;

-- Incoming hooks: addresses at which other services post messages as a bot. The bot's profile has the hook's name and image.
create table hooks (
    id uuid primary key,
    -- SHA-256 of the token's random bits.
    token_digest bytea not null unique,
    thread_id uuid not null,
    user_id uuid not null,
    created_at timestamptz not null
);
create index hooks_by_user on hooks (user_id);

-- What people have reported to the moderators.
create table reports (
    id uuid primary key,
    state text not null default 'open' check (state in ('open', 'resolved', 'dismissed')),
    created_at timestamptz not null,
    -- Null while it is open.
    closed_at timestamptz,
    -- Both null once the account of the reporter is erased.
    reporter_id uuid,
    reason text,
    -- The reported person: of a message its sender, null for a system message.
    user_id uuid,
    -- The reported message; null in a report about a person.
    thread_id uuid,
    message_id uuid,
    seq bigint,
    -- What the message said when it was reported. Null in a report about a person, and once the content is forgotten
    -- (report_forget).
    sent_at timestamptz,
    edited_at timestamptz,
    type text,
    payload json
);
create index reports_by_state on reports (state, id);
create index reports_by_reporter on reports (reporter_id, id);
create index reports_by_user on reports (user_id);
create index reports_by_message on reports (thread_id, seq) where thread_id is not null;
