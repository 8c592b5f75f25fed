-- The tables of the usual way to build a chat, for one_transaction_a_message.pgbench: what Parley's log is compared with.
create table baseline_threads (id int primary key, head bigint not null);
create table baseline_messages (
    thread_id int not null,
    seq bigint not null,
    id uuid not null,
    sender_id uuid not null,
    payload json not null,
    created_at timestamptz not null default now(),
    primary key (thread_id, seq)
);
create unique index baseline_messages_by_id on baseline_messages (thread_id, id);
create table baseline_events (
    pos bigint generated always as identity primary key,
    at timestamptz not null default now(),
    thread_id int not null,
    body text not null
);
create index baseline_events_by_thread on baseline_events (thread_id, pos);
insert into baseline_threads select number, 0 from generate_series(1, 32) number;
