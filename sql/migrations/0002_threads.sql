-- Threads, their members, and when in the log each membership held.
-- locks: none that matter, all tables are new
-- length: milliseconds
-- breaking: no

create table threads (
    id uuid primary key,
    kind text not null check (kind in ('direct', 'group', 'room')),
    title text,
    image text,
    retention json not null default '{"keep":"forever"}',
    created_at timestamptz not null,
    -- Members with status 'joined'. Changes only when somebody joins or leaves, never with a message.
    member_count int not null default 0,
    -- A direct thread's pair, lower id first: one thread per pair.
    direct_low uuid,
    direct_high uuid,
    -- A room's title, case-folded by the service: one room per title.
    room_key text collate "C" unique,
    unique (direct_low, direct_high),
    check ((kind = 'direct') = (direct_low is not null and direct_high is not null)),
    check ((kind = 'room') = (room_key is not null))
);

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
    primary key (thread_id, user_id)
) with (fillfactor = 80);
create index members_by_user on members (user_id, thread_id);

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
