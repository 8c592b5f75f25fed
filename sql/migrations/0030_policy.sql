-- The policy hook: what the operator's own service decided about messages, and the messages that it holds for moderators.
-- locks: attachment_uses (access exclusive), for an instant
-- length: milliseconds
-- breaking: no

-- The verdict about a message or an edit, so that a retry gets the same one.
create table policy_verdicts (
    sender_id uuid not null,
    thread_id uuid not null,
    message_id uuid not null,
    is_edit boolean not null,
    -- Of what the sender sent (policy_digest), also where the policy has rewritten it.
    digest bytea not null,
    action text not null check (action in ('allow', 'deny', 'rewrite', 'hold')),
    -- Of deny, as the sender sees them.
    code text,
    detail text,
    -- Of rewrite, until the message is stored and the verdict is over.
    payload json,
    attachments uuid[],
    -- 'infinity' while the message is held, and of a rewritten message that is stored.
    expires_at timestamptz not null,
    primary key (sender_id, thread_id, message_id, is_edit)
);
create index policy_verdicts_by_expiry on policy_verdicts (expires_at);

-- Messages and edits that the policy held. A decided one is kept without its content for some days.
create table held_messages (
    id uuid primary key,
    state text not null default 'pending' check (state in ('pending', 'approved', 'refused')),
    thread_id uuid not null,
    message_id uuid not null,
    sender_id uuid not null,
    is_edit boolean not null,
    type text not null,
    -- Null once it is decided.
    payload json,
    attachments uuid[] not null,
    reply_to uuid,
    mentions uuid[] not null,
    expires_s int,
    -- Of an edit: when the message was last edited before. A later edit makes this one obsolete.
    base_at timestamptz,
    -- What the policy said.
    code text,
    detail text,
    held_at timestamptz not null,
    decided_at timestamptz
);
create index held_messages_by_state on held_messages (state, id);
create index held_messages_by_message on held_messages (message_id, thread_id);
create unique index held_messages_pending on held_messages (thread_id, message_id) where state = 'pending';
create index held_messages_by_sender on held_messages (sender_id, id);
create index held_messages_by_decision on held_messages (decided_at) where decided_at is not null;

-- A held message keeps its attachments: holder_id is then the id of its row in held_messages.
alter table attachment_uses drop constraint attachment_uses_kind_check;
alter table attachment_uses add constraint attachment_uses_kind_check
    check (kind in ('message', 'thread', 'profile', 'held')) not valid;
