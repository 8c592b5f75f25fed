-- The index that search reads. It is kept behind the log by the nodes, so sending costs what it cost.
-- locks: none that matter, all tables are new; reads threads and the heads of their messages
-- length: an index probe a thread
-- breaking: no

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

-- Threads of which the messages up to `upto_seq` are not in the index yet: those that were there before it.
create table search_backlog (
    thread_id uuid primary key,
    upto_seq bigint not null
);

insert into search_state (config, pos) values ('simple', coalesce((select max(e.pos) from events e), 0));
insert into search_backlog (thread_id, upto_seq)
select t.id, m.seq
from threads t
cross join lateral (select x.seq from messages x where x.thread_id = t.id order by x.seq desc limit 1) m;
