-- Messages whose content goes by itself: at a time, or once every device has it.
-- locks: threads, messages, events and its partitions (access exclusive), for an instant; all tables are new
-- length: milliseconds
-- breaking: no

-- How long a thread keeps its messages' content: null for ever, 0 until it is delivered, else so many seconds. Takes the
-- place of `retention`, which only ever said "for ever" and stays until no older node calls functions that read it.
alter table threads add column keep_s int check (keep_s >= 0);

-- Whether the content goes once every device has it. Null for nearly all, which takes no room in a row.
alter table messages add column until_delivered boolean;
-- The same of the event that carries it: nodes note who of a user's devices has got it.
alter table events add column until_delivered boolean;

-- When the content of messages goes at the latest. A row goes with the content.
create table message_expiries (
    thread_id uuid not null,
    seq bigint not null,
    expires_at timestamptz not null,
    primary key (thread_id, seq)
);
create index message_expiries_due on message_expiries (expires_at);

-- Content that waits for devices: of messages as sent, or as edited last.
create table undelivered (
    thread_id uuid not null,
    -- Of the event that carries it. Who has got that has the content.
    pos bigint not null,
    seq bigint not null,
    -- When it was written: for whom came later it doesn't wait.
    at timestamptz not null,
    primary key (thread_id, pos)
);

-- How far in the log a device has got what came in a thread, as far as content waits for it.
create table device_marks (
    session_id uuid not null,
    thread_id uuid not null,
    pos bigint not null,
    primary key (session_id, thread_id)
) with (fillfactor = 80);

-- Threads with content that waits, and when to look whether it still has to. Rows are added whenever something may have
-- changed, and never updated, so that who adds one waits for nobody; who looks at a thread takes them all away.
create table undelivered_checks (
    thread_id uuid not null,
    due_at timestamptz not null
);
create index undelivered_checks_due on undelivered_checks (due_at);
create index undelivered_checks_by_thread on undelivered_checks (thread_id);
