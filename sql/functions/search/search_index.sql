-- Maintenance of the search index. The index follows the log, a part at a time, so that sending does nothing for it.
-- Search reads messages that are not indexed yet. Withdrawn content leaves the index in the same transaction.
--
-- No lock of the index makes another transaction wait. A pass locks each thread of its part (search_lock); a change of
-- a message only tries that lock (search_is_free). If the thread is free, the change keeps passes away until its
-- commit, and updates the index itself. If a pass has locked the thread, the change adds a row to `search_stale`
-- instead, because the pass may be inserting the old words at this moment. Search reads such messages by their text,
-- and the next pass deletes the row. docs/internals.md shows why no old word stays.

-- Indexes the next part of what is missing: first what changes left (`search_stale`), then at most `p_limit` events of
-- the log or, when there are none, `p_limit` messages of the backlog. It ends after the message that brings it to
-- `p_words` words. A session that dies leaves all as it was.
-- Returns: how many rows it looked at, 0 when nothing is left, and the position up to which the index has the log;
-- null while another session indexes.
-- Locks: search_state (returns if it is locked), the threads' places in the index
create or replace function search_index(p_limit int, p_words int default 20000, out looked int, out pos bigint)
language plpgsql volatile as $$
declare
    v_state search_state;
    v_positions bigint[];
    v_threads uuid[];
    v_seqs bigint[];
    v_words int := 0;
    v_stale int;
begin
    select * into v_state from search_state s for update skip locked;
    if not found then
        return;
    end if;
    pos := v_state.pos;
    if v_state.pos + 1 < (select t.end_pos from log_trims t order by t.end_pos desc limit 1) then
        -- The next events were trimmed.
        perform search_reset(v_state.config);
        looked := 1;
        return;
    end if;
    -- At most half the words, so that frequent changes leave room for new messages.
    v_stale := search_index_stale(v_state.config, p_limit, p_words / 2);
    select array_agg(e.pos), array_agg(e.thread_id), array_agg(e.seq) into v_positions, v_threads, v_seqs
    from (
        select x.pos, x.thread_id,
            case when x.type = 'message.created' then x.seq end as seq
        from events x where x.pos > v_state.pos order by x.pos limit p_limit
    ) e;
    looked := 0;
    perform search_lock(t.id) from (select distinct n.id from unnest(v_threads, v_seqs) n (id, seq) where n.seq is not null) t;
    while looked < cardinality(v_positions) and v_words < p_words loop
        looked := looked + 1;
        pos := v_positions[looked];
        if v_seqs[looked] is not null then
            v_words := v_words + search_put(v_state.config, v_threads[looked], v_seqs[looked]);
        end if;
    end loop;
    if looked = 0 then
        looked := search_index_backlog(v_state.config, p_limit, p_words);
    else
        update search_state s set pos = search_index.pos;
    end if;
    looked := looked + v_stale;
end $$;

-- Indexes the newest messages of one thread's backlog, within the bounds of search_index.
-- Locks: the caller holds search_state
create or replace function search_index_backlog(p_config text, p_limit int, p_words int) returns int
language plpgsql volatile as $$
declare
    v_place search_backlog;
    v_left bigint;
    v_words int := 0;
begin
    select * into v_place from search_backlog b order by b.thread_id limit 1;
    if not found then
        return 0;
    end if;
    perform search_lock(v_place.thread_id);
    v_left := v_place.upto_seq;
    while v_left > 0 and v_place.upto_seq - v_left < p_limit and v_words < p_words loop
        v_words := v_words + search_put(p_config, v_place.thread_id, v_left);
        v_left := v_left - 1;
    end loop;
    if v_left > 0 then
        update search_backlog b set upto_seq = v_left where b.thread_id = v_place.thread_id;
    else
        delete from search_backlog b where b.thread_id = v_place.thread_id;
    end if;
    return v_place.upto_seq - v_left;
end $$;

-- Handles rows of `search_stale`: deletes the words that the messages had, and inserts those that they have now.
-- Returns: how many rows.
-- Locks: the caller holds search_state
create or replace function search_index_stale(p_config text, p_limit int, p_words int) returns int
language plpgsql volatile as $$
declare
    v_row record;
    v_count int := 0;
    v_words int := 0;
begin
    for v_row in select s.ctid as place, s.thread_id, s.seq, s.words from search_stale s limit p_limit loop
        perform search_lock(v_row.thread_id);
        delete from message_words x
        where x.thread_id = v_row.thread_id and x.word = any (v_row.words) and x.seq = v_row.seq;
        v_words := v_words + cardinality(v_row.words) + search_put(p_config, v_row.thread_id, v_row.seq);
        delete from search_stale s where s.ctid = v_row.place;
        v_count := v_count + 1;
        exit when v_words >= p_words;
    end loop;
    return v_count;
end $$;

-- Inserts the words that a message has now.
-- Returns: how many words.
-- Locks: the caller holds the thread by search_lock, so no change of the message is under way
create or replace function search_put(p_config text, p_thread uuid, p_seq bigint) returns int
language plpgsql volatile as $$
declare
    v_words text[] := (select search_words(p_config, search_text(m.type, m.payload)) from messages m
        where m.thread_id = p_thread and m.seq between p_seq and p_seq order by m.seq limit 1);
begin
    insert into message_words (thread_id, word, seq) select p_thread, w.word, p_seq from unnest(v_words) w (word)
    on conflict do nothing;
    return coalesce(cardinality(v_words), 0);
end $$;

-- Starts the index again, under a configuration: all messages become backlog.
-- Locks: search_state; at its end message_words and search_stale (access exclusive)
create or replace function search_reset(p_config text) returns void
language plpgsql volatile as $$
begin
    update search_state s set config = p_config, pos = log_head();
    delete from search_backlog;
    insert into search_backlog (thread_id, upto_seq)
    select t.id, m.seq
    from threads t
    cross join lateral (select x.seq from messages x where x.thread_id = t.id order by x.seq desc limit 1) m;
    -- Last, because changes of messages wait for it (search_config).
    truncate message_words, search_stale;
end $$;

-- Sets the index's text search configuration, and starts the index again if that changes it. A node calls this when it
-- starts.
-- Fails: PY422 (search_configuration: there is none of that name).
-- Locks: search_state; as search_reset if it starts again
create or replace function search_configure(p_config text) returns void
language plpgsql volatile as $$
begin
    begin
        perform p_config::regconfig;
    exception when undefined_object or invalid_schema_name then
        perform refuse(422, 'invalid',
            'The database has no text search configuration of this name.', 'search_configuration');
    end;
    if (select s.config from search_state s) is distinct from p_config then
        perform from search_state s for update;
        if (select s.config from search_state s) is distinct from p_config then
            perform search_reset(p_config);
        end if;
    end if;
end $$;

-- Deletes a message's words from the index, or leaves that to the next pass. Call it before the content changes, with
-- the row as it is, and before locking the log. It never waits.
-- Locks: the thread's place in the index (shared; not taken if a pass has it)
create or replace function search_remove(m messages) returns void
language plpgsql volatile as $$
declare
    v_words text[] := search_words_now(m, p_deletes => true);
begin
    if v_words <> '{}' then
        -- By an array, so that all three are conditions of the index, whatever the statistics.
        delete from message_words x where x.thread_id = m.thread_id and x.word = any (v_words) and x.seq = m.seq;
    end if;
end $$;

-- Inserts a message's words after its content has changed, or leaves that to the next pass. It never waits.
-- Locks: as search_remove
create or replace function search_add(m messages) returns void
language plpgsql volatile as $$
begin
    insert into message_words (thread_id, word, seq)
    select m.thread_id, w.word, m.seq from unnest(search_words_now(m, p_deletes => false)) w (word) on conflict do nothing;
end $$;

-- Returns: a message's words; none if a pass has the thread. Then the next pass deletes them if `p_deletes`, and reads
-- the message again.
-- Locks: as search_forget
create or replace function search_words_now(m messages, p_deletes boolean) returns text[]
language plpgsql volatile as $$
declare
    v_words text[] := search_words(search_config(), search_text(m.type, m.payload));
begin
    if v_words <> '{}' and not search_is_free(m.thread_id) then
        insert into search_stale (thread_id, seq, words)
        values (m.thread_id, m.seq, case when p_deletes then v_words else '{}' end);
        return '{}';
    end if;
    return v_words;
end $$;

-- Returns: the index's configuration. It cannot change until this transaction ends: search_reset waits for the lock
-- taken here.
-- Locks: message_words (row exclusive)
create or replace function search_config() returns text
language plpgsql volatile as $$
begin
    lock table message_words in row exclusive mode;
    return (select s.config from search_state s);
end $$;

-- Locks a thread for a pass, after the changes of its messages that are under way. Some threads share a place, of which
-- there are 4,096.
-- Locks: the thread's place in the index
create or replace function search_lock(p_thread uuid) returns void
language plpgsql volatile as $$
begin
    perform lock_row('search', search_lock_key(p_thread));
end $$;

-- Returns: the key by which lock_row locks a thread's place in the index.
create or replace function search_lock_key(p_thread uuid) returns int
language sql immutable as $$
    select hashtext(p_thread::text) & 4095
$$;

-- Keeps passes away from a thread until this transaction ends.
-- Returns: false, and nothing is locked, if a pass has the thread.
create or replace function search_is_free(p_thread uuid) returns boolean
language plpgsql volatile as $$
begin
    perform from lock_rows r where r.purpose = 'search' and r.key = search_lock_key(p_thread) for share skip locked;
    return found;
end $$;
