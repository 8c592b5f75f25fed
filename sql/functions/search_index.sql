-- The upkeep of the index that search reads. It follows the log, a part at a time, so that sending does nothing for it
-- and waits for nothing of it; search looks through the rest. What is withdrawn leaves it in the same transaction.

-- Puts the next part of what is missing into the index: at most `p_limit` events of the log or, once there are none,
-- `p_limit` messages of the backlog. Gives how many it looked at, and the position up to which the index has the log: 0
-- when there is nothing left, null when somebody else is at it. One row is locked meanwhile; whoever dies holding it
-- leaves all as it was.
-- locks: search_state (skipped when taken)
create or replace function search_index(p_limit int, out looked int, out pos bigint)
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_state search_state;
begin
    select * into v_state from search_state s for update skip locked;
    if not found then
        return;
    end if;
    pos := v_state.pos;
    if v_state.pos + 1 < (select t.end_pos from log_trims t order by t.end_pos desc limit 1) then
        -- The log no longer holds what comes next.
        perform search_reset(v_state.config);
        looked := 1;
        return;
    end if;
    with part as materialized (
        select e.pos, e.thread_id,
            case when e.type = 'message.created' then (e.body::json -> 'data' ->> 'seq')::bigint end as seq
        from events e where e.pos > v_state.pos order by e.pos limit p_limit
    ), put as (
        insert into message_words (thread_id, word, seq)
        select m.thread_id, w.word, m.seq
        from part p
        cross join lateral (select x.* from messages x
            where x.thread_id = p.thread_id and x.seq between p.seq and p.seq order by x.seq limit 1) m
        cross join lateral unnest(search_words(v_state.config, search_text(m.type, m.payload))) w (word)
        order by 1, 2, 3
        on conflict do nothing
    )
    select coalesce(max(p.pos), v_state.pos), count(*) into pos, looked from part p;
    if looked = 0 then
        looked := search_index_backlog(v_state.config, p_limit);
        return;
    end if;
    update search_state s set pos = search_index.pos;
end $$;

-- Puts the newest `p_limit` messages of one thread's backlog into the index. Call it with search_state locked.
create or replace function search_index_backlog(p_config text, p_limit int) returns int
language plpgsql volatile
set enable_seqscan = off
as $$
declare
    v_place search_backlog;
begin
    select * into v_place from search_backlog b order by b.thread_id limit 1;
    if not found then
        return 0;
    end if;
    insert into message_words (thread_id, word, seq)
    select m.thread_id, w.word, m.seq
    from messages m cross join lateral unnest(search_words(p_config, search_text(m.type, m.payload))) w (word)
    where m.thread_id = v_place.thread_id and m.seq > v_place.upto_seq - p_limit and m.seq <= v_place.upto_seq
    order by 1, 2, 3
    on conflict do nothing;
    if v_place.upto_seq > p_limit then
        update search_backlog b set upto_seq = v_place.upto_seq - p_limit where b.thread_id = v_place.thread_id;
    else
        delete from search_backlog b where b.thread_id = v_place.thread_id;
    end if;
    return p_limit;
end $$;

-- Begins the index anew, under a configuration: all that there is becomes backlog.
-- locks: search_state, message_words and search_backlog (access exclusive)
create or replace function search_reset(p_config text) returns void
language plpgsql volatile as $$
begin
    update search_state s set config = p_config, pos = log_head();
    truncate message_words, search_backlog;
    insert into search_backlog (thread_id, upto_seq)
    select t.id, m.seq
    from threads t
    cross join lateral (select x.seq from messages x where x.thread_id = t.id order by x.seq desc limit 1) m;
end $$;

-- Makes the index one of a text search configuration, if it is another's. A node calls this when it starts.
-- Fails: PY422 (search_configuration: there is none of that name).
-- locks: search_state; as search_reset if it must begin anew
create or replace function search_configure(p_config text) returns void
language plpgsql volatile as $$
begin
    begin
        perform p_config::regconfig;
    exception when undefined_object or invalid_schema_name then
        raise exception using errcode = 'PY422', message = 'invalid', hint = 'search_configuration',
            detail = 'The database has no text search configuration of this name.';
    end;
    if (select s.config from search_state s) is distinct from p_config then
        perform from search_state s for update;
        if (select s.config from search_state s) is distinct from p_config then
            perform search_reset(p_config);
        end if;
    end if;
end $$;

-- Takes a message's words out of the index. Call it before its content is withdrawn or changed, with the row as it still
-- is, and before the log's lock is taken. It waits for a pass that is under way, which may just be putting them in; one
-- that comes later finds the message as it is then.
-- locks: search_state
create or replace function search_forget(m messages) returns void
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_state search_state;
begin
    select * into v_state from search_state s for no key update;
    delete from message_words x using unnest(search_words(v_state.config, search_text(m.type, m.payload))) w (word)
    where x.thread_id = m.thread_id and x.word = w.word and x.seq = m.seq;
end $$;

-- Puts a message's words into the index, after its content has changed.
-- locks: search_state
create or replace function search_remember(m messages) returns void
language plpgsql volatile as $$
declare
    v_state search_state;
begin
    select * into v_state from search_state s for no key update;
    insert into message_words (thread_id, word, seq)
    select m.thread_id, w.word, m.seq
    from unnest(search_words(v_state.config, search_text(m.type, m.payload))) w (word)
    on conflict do nothing;
end $$;
