-- The archive of messages, and the log of events in commit order.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

create table messages (
    thread_id uuid not null,
    seq bigint not null,
    id uuid not null,
    -- Null: made by the server.
    sender_id uuid,
    type text not null,
    -- Null once withdrawn.
    payload json,
    reply_to uuid,
    mentions uuid[] not null default '{}',
    created_at timestamptz not null,
    edited_at timestamptz,
    deleted_at timestamptz,
    expires_at timestamptz,
    -- Where its message.created is in the log: withdrawing the content finds it there too.
    pos bigint not null,
    primary key (thread_id, seq)
);
-- An id is unique in its thread: keys begin with the thread so that the table can be distributed by it.
create unique index messages_by_id on messages (thread_id, id);
-- A member's own messages: how far they have read by sending, and what not to count as unread.
create index messages_by_sender on messages (thread_id, sender_id, seq);
-- What stands between two marks without counting as unread.
create index messages_uncounted on messages (thread_id, seq) where deleted_at is not null or sender_id is null;
create index messages_with_mentions on messages (thread_id, seq) where mentions <> '{}' and deleted_at is null;

-- The log. `pos` is taken under the log's lock (log_begin), so it is dense and in commit order.
-- Partitioned by range of `pos`, so that trimming drops a partition and never deletes rows.
create table events (
    pos bigint not null,
    at timestamptz not null,
    type text not null,
    thread_id uuid,
    -- Null: for everyone who is a member of the thread at `pos`. Else for this user only.
    user_id uuid,
    -- Whose membership of the thread begins or ends with this event.
    begins uuid[],
    ends uuid[],
    -- The session that session.revoked is about: nodes forget it.
    session_id uuid,
    -- An earlier position whose content this event withdraws: nodes drop what they hold of it.
    withdraws bigint,
    -- The whole event as clients get it, JSON text, rendered once at writing: the same bytes for everyone, for ever.
    body text not null,
    primary key (pos)
) partition by range (pos);
create index events_by_thread on events (thread_id, pos) where user_id is null;
create index events_by_user on events (user_id, pos) where user_id is not null;

-- From which position on the log is one unbroken history. A cursor names its epoch (rule 8 of the log).
create table log_epochs (
    epoch int primary key,
    first_pos bigint not null,
    system_identifier text not null,
    timeline int not null,
    opened_at timestamptz not null
);
insert into log_epochs
select 1, 1, c.system_identifier::text, k.timeline_id, clock_timestamp()
from pg_control_system() c, pg_control_checkpoint() k;
