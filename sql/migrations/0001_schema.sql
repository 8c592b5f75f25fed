-- All tables of the first release.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

-- Accounts and sessions.
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
    created_at timestamptz not null,
    -- Noted when somebody goes offline.
    last_seen_at timestamptz,
    -- Where codes are mailed to, and its case-folded form, which must be unique. Null for accounts that sign in another way.
    email text,
    email_key text,
    -- The token's `sub`. Null for accounts that sign in another way.
    external_id text,
    -- The text of a JSON object of the host app, which Parley never looks into. Null without one. It is no `json`, which
    -- has no equality.
    custom text,
    -- An account that was erased leaves its row behind, for the messages that stay: without name, address and password.
    erased_at timestamptz,
    -- Who is suspended can't sign in.
    suspended_at timestamptz,
    -- True or null: the account is a program. It has no unread messages, alerts, marks, typing or presence, and its sessions do not
    -- expire. Set when the account is made, and never changed. A member's row says the same, because the functions that count read
    -- that row anyway.
    is_bot boolean
);
create unique index users_by_email on users (email_key) where email_key is not null;
create unique index users_by_external_id on users (external_id) where external_id is not null;

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

-- Threads, their members, and when in the log each membership held.
create table threads (
    id uuid primary key,
    kind text not null check (kind in ('direct', 'group', 'room')),
    title text,
    -- What a group or room is about, null without one.
    topic text,
    image text,
    created_at timestamptz not null,
    -- Members with status 'joined'. Changes only when somebody joins or leaves, never with a message.
    member_count int not null default 0,
    -- A direct thread's pair, lower id first: one thread per pair.
    direct_low uuid,
    direct_high uuid,
    -- A room's title, case-folded by the service: one room per title.
    room_key text collate "C" unique,
    -- The id that the host app's server gave the thread. Null for threads without one.
    external_id text,
    -- As users.custom.
    custom text,
    -- Null without any.
    labels text[],
    -- How long a thread keeps its messages' content: null for ever, 0 until it is delivered, else so many seconds.
    keep_s int check (keep_s >= 0),
    -- Whether a member may have the thread in their archive, so that sending to all other threads looks for none. Null for nearly
    -- all, which takes no room in a row.
    has_archived boolean,
    unique (direct_low, direct_high),
    check ((kind = 'direct') = (direct_low is not null and direct_high is not null)),
    check ((kind = 'room') = (room_key is not null))
);
create unique index threads_by_external_id on threads (external_id) where external_id is not null;
create index threads_by_label on threads using gin (labels) with (fastupdate = off) where labels is not null;

create table members (
    thread_id uuid not null,
    user_id uuid not null,
    role text not null check (role in ('owner', 'admin', 'member')),
    status text not null check (status in ('invited', 'joined', 'left', 'removed')),
    joined_at timestamptz,
    -- Marks as last put by a receipt. A member's own messages move the effective mark further without a write
    -- (see member_read_seq): a row that changed at every send would bloat under an old snapshot.
    read_seq bigint not null default 0,
    read_at timestamptz,
    delivered_seq bigint not null default 0,
    delivered_at timestamptz,
    muted_until timestamptz,
    archived boolean not null default false,
    pinned boolean not null default false,
    hidden_before_seq bigint not null default 0,
    -- Of the last invitation; null for those who were added.
    invited_at timestamptz,
    invited_by uuid,
    -- Whether the member has hidden messages in this thread: counting for all others is done without a look for them.
    hides boolean not null default false,
    -- For its member a thread is read up to `back_to_seq`, as long as the mark that others see is `back_from_seq`.
    -- Whatever moves that one on (a receipt, a message of one's own, joining again) ends it without a write.
    back_to_seq bigint,
    back_from_seq bigint,
    -- In direct threads only, true or null: the other one has blocked this member, or this member the other one. They say what
    -- `blocks` says, on rows that are read anyway, so that sending needs no look-up.
    blocked boolean,
    blocks boolean,
    -- Of those who left or were removed: whether they left, or declined, by their own choice, and have not been back since.
    -- Null: as the status says.
    left_by_choice boolean,
    is_bot boolean,
    -- Which messages alert the member; null: all.
    notify text check (notify in ('mentions', 'none')),
    -- Of the member's settings: as users.custom and threads.labels.
    custom text,
    labels text[],
    primary key (thread_id, user_id)
) with (fillfactor = 80);
create index members_by_user on members (user_id, thread_id);
-- A page of the members, owners and admins, the eldest of them: none costs a walk through all that a room has or had.
create index members_present on members (thread_id, role, user_id) where status in ('joined', 'invited');
create index members_invited on members (thread_id, user_id) where status = 'invited';
-- Of the threads that an account has now: what it has left, which may be any number, costs its inbox nothing.
create index members_current on members (user_id, thread_id) where status in ('joined', 'invited');

-- Whom a message finds that takes the thread out of their archive, however many keep it there.
create index members_archived on members (thread_id, notify, muted_until) where archived and status = 'joined';

-- Between which positions of the log a user was a member: who may see an event is decided here, not by today's status.
-- Both ends are inclusive (one sees one's own joining and leaving); `to_pos` is null while it lasts.
create table membership_spans (
    user_id uuid not null,
    thread_id uuid not null,
    from_pos bigint not null,
    to_pos bigint,
    primary key (user_id, thread_id, from_pos)
);

-- Each forward move of a mark, so that a message's receipts have their own times. One row a call, not one a message.
create table receipt_marks (
    thread_id uuid not null,
    user_id uuid not null,
    kind text not null check (kind in ('read', 'delivered')),
    seq bigint not null,
    at timestamptz not null,
    primary key (thread_id, user_id, kind, seq)
);

-- The archive of messages, and the log of events in commit order.
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
    -- Whether anybody has ever reacted: messages without reactions, nearly all, are read without a look for any. Null until then,
    -- which takes no room in a row.
    reacted boolean,
    -- Whether the content goes once every device has it. Null for nearly all, which takes no room in a row.
    until_delivered boolean,
    -- Of messages without a sender: true for the host app's server, whose messages count as unread. Null for the service's
    -- own ones, which do not.
    counts boolean,
    primary key (thread_id, seq)
);
-- An id is unique in its thread. These two indexes hold hashes, because entries of 16 bytes and less take half the room in
-- a growing index. Every look-up compares the columns as well: message_find, sender_is.
create unique index messages_by_id on messages (uuid_hash(thread_id), id);
-- What stands between two marks without counting as unread.
create index messages_uncounted on messages (thread_id, seq)
    where deleted_at is not null or (sender_id is null and counts is null);
create index messages_by_sender on messages ((uuid_hash(sender_id) # uuid_hash(thread_id)), (seq::int));
create index messages_with_mentions on messages (thread_id, seq) include (mentions, sender_id)
    where mentions <> '{}' and deleted_at is null;

-- Threads in which an account has written without being a member, now or ever: a bot that answers commands, the sender of
-- an imported message. An account's other messages are in the threads that it is or was a member of.
create table guest_threads (
    user_id uuid not null,
    thread_id uuid not null,
    primary key (user_id, thread_id)
);

-- The log. `pos` is taken under the log's lock (log_begin), so it is dense and in commit order.
-- Partitioned by range of `pos`, so that trimming drops a partition and never deletes rows.
-- The columns are in an order that leaves no gaps between them: first those of 8 bytes, then uuids, then texts.
create table events (
    pos bigint not null,
    at timestamptz not null,
    -- message.created, message.deleted: the message's. receipt.updated of one member: the member's read mark if this event
    -- moved it, else 0. settings.updated: the first seq that the thread still shows. Null in events of other types.
    seq bigint,
    -- An earlier position whose content this event withdraws: nodes drop what they hold of it.
    withdraws bigint,
    -- Of the message, as below.
    expires_at timestamptz,
    thread_id uuid,
    -- Null: for everyone who is a member of the thread at `pos`. Else for this user only.
    user_id uuid,
    -- The acting user. Null for the server, and for an event that is about several users at once.
    actor_id uuid,
    -- The session that session.revoked is about, or the admin key of key.revoked: nodes forget it.
    session_id uuid,
    -- message.created: the message, until its content is withdrawn. With a message the columns hold what does not change
    -- about it, and each reader of the log makes the event from them (CreatedMessage): `actor_id` is the sender, `at` is
    -- when it was sent, `name` and `image` are the sender's at that time.
    message_id uuid,
    reply_to uuid,
    type text not null,
    message_type text,
    name text,
    image text,
    -- With a message its payload, else the whole event as clients get it. JSON text: the same bytes for everyone, for ever.
    body text not null,
    mentions uuid[],
    -- Whose membership of the thread begins or ends with this event.
    begins uuid[],
    ends uuid[],
    -- Whether the event carries content that goes once every device has it. Nodes record which devices have received it.
    until_delivered boolean,
    -- message.created: true if it alerts nobody, false if it alerts although it has no sender. Null otherwise.
    is_silent boolean,
    -- Whether integrations see the event (changes_read). Null: if it is for everyone, so if user_id is null. True: although
    -- it is for one user or for nobody. False: although it is for everyone, because another event says the same.
    is_change boolean,
    primary key (pos)
) partition by range (pos);
-- By the thread's hash: an entry takes 40 bytes in a growing index, and with the thread itself 69. Every look-up
-- compares the thread as well.
create index events_by_thread on events (uuid_hash(thread_id), pos) where user_id is null;
create index events_by_user on events (user_id, pos) where user_id is not null;

-- From which position on the log is one unbroken history. A cursor names its epoch (rule 8 of the log).
create table log_epochs (
    epoch int primary key,
    first_pos bigint not null,
    system_identifier text not null,
    timeline int not null,
    opened_at timestamptz not null,
    -- When the server had been started.
    started_at timestamptz,
    -- The log's last position is this or a later one: where to look for it (log_head). Moved on now and then.
    floor_pos bigint not null default 0
);
insert into log_epochs (epoch, first_pos, system_identifier, timeline, opened_at, started_at)
select 1, 1, c.system_identifier::text, k.timeline_id, clock_timestamp(), pg_postmaster_start_time()
from pg_control_system() c, pg_control_checkpoint() k;

-- Partitions of the log that were trimmed, or are being: written before the first step, so that any node can go on.
create table log_trims (
    -- Positions before this are gone, or going: nothing reads them any more.
    end_pos bigint primary key,
    partition text not null,
    begun_at timestamptz not null,
    -- Null while there is something left to do.
    dropped_at timestamptz
);

-- The last position of a thread's events among those that were trimmed: by it a client whose cursor is older than the
-- log keeps is told which threads have changed.
create table thread_trims (
    thread_id uuid primary key,
    pos bigint not null
);

-- What messages said before they were edited. Members read it with the message, unless PARLEY_EDIT_HISTORY is off.
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
create index message_reactions_by_user on message_reactions (user_id, thread_id, seq);
-- Who reacted with an emoji, latest first: a page costs the same however many have.
create index message_reactions_by_emoji on message_reactions (thread_id, seq, emoji, created_at desc, user_id);

-- How many have reacted with each, so that reading a message costs the same however many they are.
create table message_reaction_counts (
    thread_id uuid not null,
    seq bigint not null,
    emoji text collate "C" not null,
    count int not null,
    created_at timestamptz not null,
    primary key (thread_id, seq, emoji)
) with (fillfactor = 80);

-- Messages that a member doesn't see any more, though all others do.
create table message_hides (
    thread_id uuid not null,
    user_id uuid not null,
    seq bigint not null,
    primary key (thread_id, user_id, seq)
);

-- Which words the messages of a thread have. Keyed by the thread first, so that what a search costs depends on the
-- searcher's threads and not on everybody's, and so that the table can be distributed by it.
create table message_words (
    thread_id uuid not null,
    -- Folded (search_fold). Collation "C" so that a prefix is a range whatever the database's locale.
    word text collate "C" not null,
    seq bigint not null,
    primary key (thread_id, word, seq)
);

-- How far the index has come: one row, changed once a pass.
create table search_state (
    -- The text search configuration that makes words of texts.
    config text not null,
    -- The messages that were sent up to this position are in the index, but for `search_backlog`'s.
    pos bigint not null,
    is_only boolean primary key default true check (is_only)
) with (fillfactor = 50);
insert into search_state (config, pos) values ('simple', 0);

-- Threads of which the messages up to `upto_seq` are not in the index yet: those that were there before it.
create table search_backlog (
    thread_id uuid primary key,
    upto_seq bigint not null
);

-- The nodes that are there. One that isn't heard of for a while has gone, and with it all who were online there.
create table presence_nodes (
    node text primary key,
    seen_at timestamptz not null,
    -- What the devices that poll at a node surely have; null where nothing is known of them (any more).
    pos bigint
);

-- Who polls at which node. A row comes and goes with somebody's being online there, and changes with nothing else.
create table presence (
    user_id uuid not null,
    node text not null,
    primary key (user_id, node)
);
create index presence_by_node on presence (node);

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

-- A row comes with a mark and goes with its telling, a second later; whose it is is locked by the member's row.
create table receipt_news (
    thread_id uuid not null,
    user_id uuid not null,
    since timestamptz not null,
    primary key (thread_id, user_id)
);

-- What goes on at an address, whether it has an account or not. Gone a day after it was last asked for.
create table mail_codes (
    email_key text primary key,
    -- When the day began over which the following two are counted.
    counted_from timestamptz not null,
    -- How often a code was asked for, and how often one was tried that was good and got it wrong.
    asked int not null,
    failed int not null,
    -- Of the account that is made when the code is used, if somebody registered.
    name text,
    words text[],
    device_name text,
    -- The code that was mailed last, as a PHC string ($scrypt$…); the code itself is nowhere. Null when none is good.
    code_hash text,
    -- Where to.
    code_email text,
    code_expires_at timestamptz,
    code_tries int not null default 0,
    -- When the registration in this row was asked for; null when there is none.
    registered_at timestamptz,
    -- The code mailed first, of those that are still good; the columns that begin with `code_` have the one mailed last.
    first_hash text,
    first_email text,
    first_expires_at timestamptz,
    first_tries int not null default 0,
    -- What the registration in this row uses when it becomes an account.
    invitation_id uuid
) with (fillfactor = 80);
create index mail_codes_by_age on mail_codes (counted_from);

-- Invitations to register. Their columns are in an order that leaves no gaps.
create table invitations (
    created_at timestamptz not null,
    -- Null: it does not expire.
    expires_at timestamptz,
    -- When the row may be deleted: a while after its expiry or its last use. Null as long as neither is known.
    delete_at timestamptz,
    uses_left int not null check (uses_left >= 0),
    id uuid primary key,
    -- SHA-256 of the code's random bits.
    code_digest bytea not null unique
);
create index invitations_by_deletion on invitations (delete_at) where delete_at is not null;

-- The operator's codes for forgotten passwords, and the tries of one. A name that has no account, or no code, gets a row
-- by a try, too, so that the time of a try does not show which names have one. The columns leave no gaps.
create table password_resets (
    -- A row without a code expires an hour after its first try.
    expires_at timestamptz not null,
    -- Of a name without an account: made of the name.
    user_id uuid primary key,
    tries int not null default 0,
    -- SHA-256 of the code.
    code_digest bytea
);
create index password_resets_by_expiry on password_resets (expires_at);

-- The address that an account wants to have, until its mailed code is used. A row is deleted after a day.
create table email_wishes (
    asked_at timestamptz not null,
    user_id uuid primary key,
    email text not null,
    email_key text not null
);
create index email_wishes_by_age on email_wishes (asked_at);

-- When the owner of an address was last notified that another account wants it. A row is deleted after a day.
create table email_notices (
    at timestamptz not null,
    email_key text primary key
);
create index email_notices_by_age on email_notices (at);

-- Mails that are to be sent. A row goes once the relay has the mail, or with the code's life.
create table mails (
    id uuid primary key,
    email_key text not null,
    email text not null,
    -- code: for signing in | confirm: `user_id` wants the address | replaced: a notice to the former address of `user_id`
    kind text not null default 'code',
    user_id uuid,
    asked_at timestamptz not null,
    -- When to send; while a node is at it, when another may take over.
    due_at timestamptz not null,
    -- Counts who is at it: what an earlier one says of it doesn't count any more.
    attempt int not null default 0,
    -- One of each kind for an address: a request before the mail is sent gets no second mail.
    unique (email_key, kind)
);
create index mails_due on mails (due_at);

-- One row a limit and whom it concerns: 16 bytes of a digest, so that no name and no address is kept. It goes once its
-- bucket is full. Unlogged: what a crash may lose here is a few tries, and a try needn't wait for the disk.
create unlogged table rate_limits (
    key bytea primary key,
    full_at timestamptz not null
);
create index rate_limits_by_time on rate_limits (full_at);

-- Answers of requests with an Idempotency-Key, for a day.
create table idempotency_keys (
    created_at timestamptz not null,
    -- A user, an admin key, or the nil UUID for all admin tokens.
    caller_id uuid not null,
    -- The message that was sent, or the thread that existed already; they have the body. Null for everything else.
    thread_id uuid,
    message_id uuid,
    -- Null while the request is under way, and if it created nothing.
    status int,
    key text collate "C" not null,
    -- A digest of the method, the path and the body.
    request bytea not null,
    body text,
    primary key (caller_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Whom people have blocked: who can't write to them directly, open a direct thread with them, invite or add them.
create table blocks (
    user_id uuid not null,
    blocked_id uuid not null,
    created_at timestamptz not null,
    primary key (user_id, blocked_id)
);
create index blocks_listed on blocks (user_id, created_at, blocked_id);
-- Most people are blocked by nobody: adding somebody asks here, once for all whom they add.
create index blocks_by_blocked on blocks (blocked_id, user_id);

-- What is left to do of an erasure after the call; rows go when it is done.
create table erasures (
    user_id uuid primary key,
    erases_messages boolean not null,
    -- The log was gone through up to here.
    pos bigint not null default 0,
    -- Whether this erasure takes part in the current walk of the log (erasure_sweep.sql).
    walks boolean not null default false
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

-- Deleted threads whose messages are still to be withdrawn (thread_delete_step).
create table thread_removals (
    thread_id uuid primary key,
    at timestamptz not null
);
create index thread_removals_next on thread_removals (at);

-- Ids only, so that an erased account leaves nothing here by which it is known.
create table audit (
    id uuid primary key,
    at timestamptz not null,
    actor text not null,
    action text not null,
    user_id uuid,
    thread_id uuid,
    message_id uuid,
    -- As the service's log and X-Request-Id name it; null for what came from the command line.
    request_id text,
    -- What an action was done to, if that is neither a user nor a message: for a consumer its name.
    subject text,
    -- The key of the call. Null for calls with the admin token and for the command line.
    key_id uuid
);

-- Keys of programs that call the admin API. A key never changes, so a node may cache it until it is revoked.
create table admin_keys (
    id uuid primary key,
    created_at timestamptz not null,
    -- From then on the key is refused. Null: it does not expire.
    expires_at timestamptz,
    last_used_at timestamptz,
    -- SHA-256 of the token; the token itself is shown once and never stored.
    token_digest bytea not null unique,
    name text not null,
    scopes text[] not null
);

-- Where a device gets its alerts.
create table push_targets (
    session_id uuid primary key,
    user_id uuid not null,
    platform text not null check (platform in ('apns', 'fcm', 'webpush')),
    -- The device's token, or the endpoint's URL.
    token text not null,
    -- SHA-256 of platform and token. A token is one device's: who registers it last has it.
    token_digest bytea not null unique,
    -- APNs only; the topic may be null for the configured one.
    environment text check (environment in ('production', 'development')),
    topic text,
    -- Web Push only.
    p256dh bytea,
    auth bytea,
    registered_at timestamptz not null,
    -- What is at or below was decided for this device, one way or the other.
    decided_pos bigint not null
) with (fillfactor = 80);
create index push_targets_by_user on push_targets (user_id);

-- Which devices poll, and at which node. A row comes and goes with a device, and changes when it hops to another node.
create table device_polls (
    session_id uuid primary key,
    user_id uuid not null,
    -- Empty once it has gone: its alerts are about to be planned (push_plan).
    node text not null,
    -- What is after it in the log, as far as alerts have been made, was left to its polls; once it has gone: what it lacks.
    from_pos bigint not null
);
create index device_polls_by_node on device_polls (node);

-- How far in the log it was decided who is to be alerted.
create table push_state (
    epoch int not null,
    pos bigint not null,
    -- While the members of large threads are gone through, some at a time: for the events up to here, and how far.
    upto_pos bigint,
    thread_id uuid,
    user_id uuid,
    is_only boolean primary key default true check (is_only)
) with (fillfactor = 50);
insert into push_state (epoch, pos) values (1, 0);

-- What is to be sent. One job a device and event. The lock of a device's jobs is its row in push_targets (for no key update;
-- several by session_id, or skipping those that others have): who makes, takes, settles, stops or deletes them holds it, and
-- looks at them in a statement after. So there is always exactly one with a time, and none without a target.
create table push_jobs (
    session_id uuid not null,
    pos bigint not null,
    -- The same for every try.
    id uuid not null,
    platform text not null,
    thread_id uuid not null,
    -- Of the message; 0 for a silent one, which brings the count and takes away what was read.
    seq bigint not null,
    -- When the event happened.
    at timestamptz not null,
    -- Only a device's first job has a time, so that its alerts arrive in order: `infinity` for the others, and while it polls.
    -- While a node is at it: when another may take over.
    due_at timestamptz not null,
    attempt int not null default 0,
    primary key (session_id, pos)
) with (fillfactor = 80);
create index push_jobs_by_time on push_jobs (platform, due_at) where due_at < 'infinity';

-- What all nodes share: the key pair of Web Push, the services' provider tokens.
create table push_secrets (
    name text primary key,
    -- Empty until the first is there.
    value bytea not null,
    made_at timestamptz not null,
    -- Null: never.
    expires_at timestamptz,
    -- From when on whoever asks is to make a new one: one at a time, and another after a while if nothing comes of it.
    renew_at timestamptz not null default 'infinity'
);

-- A row comes with an account's next thread; until then the members' rows are counted.
create table thread_counts (
    user_id uuid primary key,
    -- Threads that the account has joined or is invited to.
    count int not null
) with (fillfactor = 70);

-- What is still to be published of a change that concerns many threads or many invited (announcement.sql).
create table announcements (
    -- profile | thread
    kind text not null,
    -- The user, or the thread.
    subject_id uuid not null,
    -- The last thread, or the last invited user, that it was published to.
    after_id uuid,
    -- When something was last done here: the least lately comes next.
    at timestamptz not null,
    primary key (kind, subject_id)
);
create index announcements_next on announcements (at);

-- Wrong passwords in a row, one row a name that was tried: 16 bytes of a digest, so that no name is kept, and no row tells
-- whether there is such an account. Unlogged, as rate_limits is: a crash may lose a few failures, and a try does not wait
-- for the disk.
create unlogged table sign_in_failures (
    key bytea primary key,
    failed int not null,
    failed_at timestamptz not null
);
create index sign_in_failures_by_time on sign_in_failures (failed_at);

-- Messages that were changed or withdrawn while a pass of the index had their thread (search_index.sql): the index may hold
-- words of what they said before, and may lack words of what they say now. The next pass settles and deletes the rows.
create table search_stale (
    thread_id uuid not null,
    seq bigint not null,
    -- The words that the message had.
    words text[] not null
);
-- Not unique: a row that is being deleted would make the next change of its message wait.
create index search_stale_by_thread on search_stale (thread_id, seq);

-- The numbers of claims (attachments.claim). A number is never used twice, so an old
-- request cannot write to an upload that was deleted and begun again with the same id.
create sequence attachment_claims;

create table attachments (
    id uuid primary key,
    owner_id uuid not null,
    name text not null,
    -- As the client said. Null if it did not.
    declared_type text,
    -- 0 receiving, 1 checking, 2 ready, 3 refused, 4 deleted: the bytes are being erased, and nobody sees it any more.
    -- 5 held: as deleted to everyone, but only holds use it, and the bytes stay until these are released.
    state smallint not null default 0 check (state between 0 and 5),
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
    created_at timestamptz not null,
    -- What can be downloaded has a type. An upload has none yet.
    check (media_type is not null or state not in (2, 5))
) with (fillfactor = 70);
-- An account's attachments, and their bytes without reading the rows.
create index attachments_by_owner on attachments (owner_id, id) include (stored_bytes);
create index attachments_unused on attachments (owner_id) where due_at is not null;
create index attachments_due on attachments (due_at) where due_at < 'infinity';
create index attachments_to_check on attachments (lease_until) where state = 1;
create index attachments_held on attachments (id) include (size) where state = 5;
create index attachments_here on attachments (lease_until)
    where state in (2, 5) and not (is_moved and (thumbnail_is_moved or thumbnail_digest is null));
create index attachments_moved on attachments (lease_until)
    where state in (2, 5) and (is_moved or thumbnail_is_moved);

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
    -- message: of a message. thread, profile: the picture of a thread or of a user. held: a message that was withdrawn
    -- under a hold; nobody sees an attachment by such a use. review: a message that waits for a moderator, holder_id is the
    -- id of its row in reviews; its sender sees an attachment by such a use.
    kind text not null check (kind in ('message', 'thread', 'profile', 'review', 'held')),
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

-- Integrations that keep their cursor here. Everything up to the cursor is processed.
create table change_consumers (
    id uuid primary key,
    name text not null,
    epoch int not null,
    pos bigint not null,
    created_at timestamptz not null,
    -- When the cursor was last set.
    moved_at timestamptz not null
);
create unique index change_consumers_by_name on change_consumers (name);

-- Webhooks: endpoints of the operator that receive the events of the log.
create table webhooks (
    id uuid primary key,
    url text not null,
    -- Null for all types.
    types text[],
    is_thin boolean not null,
    is_ordered boolean not null,
    is_enabled boolean not null default true,
    -- Null while enabled. gone: the endpoint answered 410. admin: an administrator disabled it.
    disabled_at timestamptz,
    disabled_reason text check (disabled_reason in ('gone', 'admin')),
    secret bytea not null check (octet_length(secret) = 32),
    -- The secret before the last rotation also signs until former_until.
    former_secret bytea,
    former_until timestamptz,
    -- Counts the changes, so that the node which delivers sees them.
    revision int not null default 1,
    created_at timestamptz not null
);

-- How far an endpoint is, and the node that delivers to it. Updated once a batch of deliveries.
create table webhook_states (
    webhook_id uuid primary key,
    -- Every event up to here is delivered or parked, or has a row in webhook_deliveries.
    epoch int not null,
    pos bigint not null,
    -- Events that the log dropped before they were delivered. With a filter of types some of them may not have matched.
    lost bigint not null default 0,
    -- The lease. A node that writes with an older claim is refused.
    claim bigint not null default 0,
    node text not null default '',
    lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- Events that failed, wait behind a failed one, or are parked. The event itself is read from the log again.
create table webhook_deliveries (
    webhook_id uuid not null,
    pos bigint not null,
    -- evt_<lane>_<epoch>_<pos>, as the endpoint sees it.
    event_id text not null,
    thread_id uuid,
    -- When the event happened.
    at timestamptz not null,
    -- 0 waiting behind a failed one, 1 failed, 2 parked.
    state smallint not null check (state between 0 and 2),
    tries int not null,
    -- Of the last answer; null without one.
    status int,
    -- Why the last try failed: status, timeout, address, connection.
    reason text,
    tried_at timestamptz,
    -- When it is retried; only of failed ones.
    next_at timestamptz,
    primary key (webhook_id, pos)
) with (fillfactor = 80);
create index webhook_deliveries_by_state on webhook_deliveries (webhook_id, state, pos);

-- The latest delivered events, a row for each batch.
create table webhook_batches (
    webhook_id uuid not null,
    -- The number of the batch's last event, counted from 1.
    n bigint not null,
    at timestamptz not null,
    positions bigint[] not null,
    event_ids text[] not null,
    statuses int[] not null,
    tries int[] not null,
    primary key (webhook_id, n)
);

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

-- The ids that parley.ensure_direct has returned for direct threads with another id: of pairs who had a thread that the
-- caller could not see yet.
create table direct_aliases (
    id uuid primary key,
    thread_id uuid not null
);

-- Up to which message each thread has been cleared of what is older than that. No row: from its first message on.
create table retention_walks (
    thread_id uuid primary key,
    seq bigint not null
);

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
    custom text,
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
    topic text,
    room_key text,
    external_id text,
    image text,
    custom text,
    labels text[],
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
    left_by_choice boolean,
    notify text,
    custom text,
    labels text[]
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
    thumbnail_type text,
    thumbnail_size int,
    thumbnail_digest bytea,
    thumbnail_is_own boolean not null,
    media_type text,
    size bigint not null,
    digest bytea not null,
    width int,
    height int,
    thumbhash bytea,
    created_at timestamptz not null,
    -- SHA-256 as the archive says, of a file that was changed.
    uploaded_digest bytea
);
create index import_attachments_by_id on import_attachments (import_id, id);

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

-- The verdict about a message or an edit, so that a retry gets the same one.
create table policy_verdicts (
    sender_id uuid not null,
    thread_id uuid not null,
    message_id uuid not null,
    is_edit boolean not null,
    -- Of what the sender sent (policy_digest), also where the policy has rewritten it.
    digest bytea not null,
    action text not null check (action in ('allow', 'deny', 'rewrite', 'review')),
    -- Of deny, as the sender sees them.
    code text,
    detail text,
    -- Of rewrite, until the message is stored and the verdict is over.
    payload json,
    attachments uuid[],
    -- 'infinity' while the message waits for a moderator, and of a rewritten message that is stored.
    expires_at timestamptz not null,
    primary key (sender_id, thread_id, message_id, is_edit)
);
create index policy_verdicts_by_expiry on policy_verdicts (expires_at);

-- Messages and edits that the policy sends to a moderator. A decided one is kept without its content for some days.
create table reviews (
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
    created_at timestamptz not null,
    decided_at timestamptz
);
create index reviews_by_state on reviews (state, id);
create index reviews_by_message on reviews (message_id, thread_id);
create unique index reviews_pending on reviews (thread_id, message_id) where state = 'pending';
create index reviews_by_sender on reviews (sender_id, id);
create index reviews_by_decision on reviews (decided_at) where decided_at is not null;

-- Legal holds: while one is in force, content that is removed or replaced is kept apart.
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

-- Commands: words that members send as messages, and the addresses of the operator that answer them.
create table commands (
    id uuid primary key,
    -- With its slash.
    word text not null unique,
    url text not null,
    description text,
    -- Null for all threads.
    thread_id uuid,
    -- The bot that posts the replies. It is a member of no thread.
    user_id uuid not null,
    secret bytea not null check (octet_length(secret) = 32),
    -- The secret before the last rotation also signs until former_until.
    former_secret bytea,
    former_until timestamptz,
    is_enabled boolean not null default true,
    -- Null while enabled. gone: the address answered 410. admin: an administrator disabled it.
    disabled_at timestamptz,
    disabled_reason text check (disabled_reason in ('gone', 'admin')),
    -- Only messages after this position run it: those that came after it was made, or enabled again.
    since_pos bigint not null,
    created_at timestamptz not null
);
create index commands_by_user on commands (user_id);

-- How far the log was searched for messages that run a command.
create table command_state (
    epoch int not null,
    pos bigint not null,
    is_only boolean primary key default true check (is_only)
) with (fillfactor = 50);
insert into command_state (epoch, pos) values (1, 0);

-- Messages that run a command and are not answered yet. The message itself is read when its time comes.
create table command_runs (
    command_id uuid not null,
    thread_id uuid not null,
    message_id uuid not null,
    -- The sender of the message.
    user_id uuid not null,
    -- evt_<lane>_<epoch>_<pos>: the message's event.
    event_id text not null,
    -- When a node may claim it: the time of its next try, or the end of the lease of the node that has it.
    due_at timestamptz not null,
    is_running boolean not null default false,
    -- Counts the claims. A node that settles with an older claim is refused.
    claim int not null default 0,
    -- Tries that failed.
    tries int not null default 0,
    -- Too many others waited: it is answered without a request.
    is_refused boolean not null default false,
    primary key (command_id, thread_id, message_id)
) with (fillfactor = 70);
create index command_runs_by_time on command_runs (command_id, due_at);
create index command_runs_running on command_runs (command_id, due_at) where is_running;
create index command_runs_by_user on command_runs (user_id);

-- Confines the role `parley_sender` and every other user of the database that is not Parley's. PostgreSQL needs no right
-- for an advisory lock, for LISTEN, or for NOTIFY, so Parley uses tables for its locks, and channels whose names nobody
-- else knows. A user who may use a schema can also lock its tables without any right to them: CREATE RULE takes an
-- exclusive lock before it checks who owns the table. So nobody but Parley's user may use the schema of Parley's tables.

-- Tables without rows, only to be locked. `share update exclusive` locks one against itself, `share` is for those who
-- may hold the lock together. `update`, `delete` or `truncate` is needed for both, and only the owner has these rights.
-- The log: log_enter, log_read.
create table log_lock ();
-- Planning alerts: push_plan, device_poll_put.
create table push_plan_lock ();
-- Legal holds: hold_enter, hold_exclude.
create table hold_lock ();
-- Commands: command_step and what changes commands.
create table command_lock ();

-- Rows only to be locked (lock_row), for locks of transactions that write in any case, and for locks by key. Locking a
-- row makes no new version of it.
create table lock_rows (
    purpose text not null,
    key int not null,
    primary key (purpose, key)
);
insert into lock_rows (purpose, key)
select p.purpose, 0 from unnest(array['consumers', 'erasure walk', 'imports', 'log maintenance', 'outbox', 'presence',
    'webhooks']) p (purpose)
union all select 'pairs', k from generate_series(0, 1023) k
union all select 'push tokens', k from generate_series(0, 1023) k
union all select 'search', k from generate_series(0, 4095) k;

-- The session that trims the log, as pg_stat_activity shows it. Its work spans transactions, and no lock of a table does.
create table log_trimmer (
    pid int,
    backend_start timestamptz,
    is_only boolean primary key default true check (is_only)
);
insert into log_trimmer default values;

-- The channels of the notifications between nodes, and the key that seals typing and presence. Their random parts have
-- 122 bits, and the key has 244.
create table node_channels (
    log text not null,
    presence text not null,
    key bytea not null,
    is_only boolean primary key default true check (is_only)
);
insert into node_channels (log, presence, key)
select 'parley_log_' || replace(gen_random_uuid()::text, '-', ''),
    'parley_presence_' || replace(gen_random_uuid()::text, '-', ''),
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());

-- A role that needs Parley's schema gets `grant usage on schema … to …`: a migration runs once. Where Parley's user does
-- not own the schema, its owner has to do this (docs/sql.md).
do $$
begin
    execute format('revoke usage on schema %I from public', current_schema());
exception when insufficient_privilege then
    raise notice 'the owner of the schema % has to revoke its usage from public', current_schema();
end $$;
