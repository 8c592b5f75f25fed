-- What keeps withdrawals from waiting for the search index, and lets erasures share a walk of the log.
-- locks: erasures, message_words and search_backlog (access exclusive), for as long as it takes
-- length: an index probe a thread
-- breaking: no

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

-- Until now the index had all words of a message, however many. From now on it has the first 2,000, and only those leave it
-- together with the message. So it is made anew: all that there is becomes backlog, as in 0007_search.sql.
truncate message_words, search_backlog;
update search_state set pos = coalesce((select max(e.pos) from events e), 0);
insert into search_backlog (thread_id, upto_seq)
select t.id, m.seq
from threads t
cross join lateral (select x.seq from messages x where x.thread_id = t.id order by x.seq desc limit 1) m;

-- Whether this erasure takes part in the current walk of the log (erasure_sweep.sql).
alter table erasures add column walks boolean not null default false;
