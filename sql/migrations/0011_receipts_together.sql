-- Marks that others haven't been told of yet: in threads of more than ten they are told together.
-- locks: none, the table is new
-- length: milliseconds
-- breaking: no

-- A row comes with a mark and goes with its telling, a second later; whose it is is locked by the member's row.
create table receipt_news (
    thread_id uuid not null,
    user_id uuid not null,
    since timestamptz not null,
    primary key (thread_id, user_id)
);
