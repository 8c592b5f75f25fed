-- Finding messages by their words. search_index.sql maintains the index.

-- Returns: whether each of `p_prefixes` begins one of the text's words. Nearly all texts lack one of them altogether.
-- That is found without splitting the text into words, unless a dictionary changes the words.
create or replace function search_matches(p_config text, p_text text, p_prefixes text[]) returns boolean
language plpgsql stable as $$
declare
    v_text text;
    v_prefix text;
    v_words text[];
begin
    if p_config = 'simple' then
        v_text := search_fold(left(p_text, search_length_max()));
        foreach v_prefix in array p_prefixes loop
            if strpos(v_text, v_prefix) > 0 is not true then
                return false;
            end if;
        end loop;
    end if;
    v_words := search_words(p_config, p_text);
    foreach v_prefix in array p_prefixes loop
        if not exists (select from unnest(v_words) w (word) where starts_with(w.word, v_prefix)) then
            return false;
        end if;
    end loop;
    return true;
end $$;

-- Returns: messages with words that begin with all those of `p_query`, newest first, in the threads that the user has
-- joined, or in one of them: rows of JSON text {message, snippet}, with rank and id to continue from. Messages that
-- are not indexed yet are read, so a message is found from the moment it is sent; index, state and messages are of one
-- snapshot. After `p_ms` milliseconds it ends with what it has found. Then, as whenever it has not looked further, the
-- last row has no item and only the key to continue from; the next call skips and repeats nothing. It also ends after
-- 1 MiB.
-- Fails: with a thread PY404 thread_not_found, PY403 not_joined; PY422 (q: has no word, or more than 16); 57014 when
-- the time was over before the search got further than the page before.
-- Costs: some index probes for each of the user's threads. Threads with the newest messages come first; threads that
-- cannot add to the page are not searched. No thread takes more than a quarter of the time left, so that each page
-- gets further
create or replace function message_search(
    p_user uuid, p_thread uuid, p_query text, p_limit int, p_after_rank bigint, p_after_id uuid, p_ms int default 1000
) returns table (item text, rank bigint, id uuid)
language plpgsql stable as $$
declare
    v_end timestamptz := clock_timestamp() + p_ms * interval '1 ms';
    -- The rest of the time is for snippets.
    v_until timestamptz := v_end - p_ms * interval '0.2 ms';
    v_state search_state;
    v_prefixes text[];
    -- Nearly always empty.
    v_has_stale boolean := exists (select from search_stale);
    v_place record;
    v_part record;
    v_hit messages;
    v_hits messages[] := '{}';
    -- All messages later than this millisecond have been looked at; null: all messages.
    v_rest bigint;
    v_bytes bigint := 0;
begin
    if p_thread is not null then
        perform member_joined(p_thread, p_user);
    end if;
    select * into v_state from search_state s;
    v_prefixes := search_words(v_state.config, p_query);
    if cardinality(v_prefixes) not between 1 and 16 then
        perform refuse(422, 'invalid', 'Must have 1 to 16 words.', 'q');
    end if;

    for v_place in
        select m as member, h.created_at, h.pos, h.seq, coalesce(b.upto_seq, 0) as upto_seq
        from members m
        cross join lateral (select x.created_at, x.pos, x.seq from messages x where x.thread_id = m.thread_id
            order by x.seq desc limit 1) h
        left join search_backlog b on b.thread_id = m.thread_id
        where m.user_id = p_user and m.status = 'joined' and (p_thread is null or m.thread_id = p_thread)
        order by h.created_at desc
    loop
        exit when v_place.created_at < (v_hits[p_limit]).created_at;
        if clock_timestamp() > v_until then
            v_rest := greatest(v_rest, least(search_rank(v_place.created_at), p_after_rank));
            exit;
        end if;
        v_part := search_thread(v_place.member, v_state, v_prefixes, v_place.seq, v_place.upto_seq,
            v_place.pos > v_state.pos, v_has_stale, p_limit, p_after_rank, p_after_id,
            case when p_thread is null then clock_timestamp() + (v_until - clock_timestamp()) / 4 else v_until end);
        v_rest := greatest(v_rest, v_part.rest);
        if cardinality(v_part.hits) > 0 then
            v_hits := array(select h from (select distinct on (f.created_at, f.id) f as h
                from unnest(v_hits || v_part.hits) f order by f.created_at desc, f.id desc) h limit p_limit);
        end if;
    end loop;

    foreach v_hit in array v_hits loop
        exit when search_rank(v_hit.created_at) <= v_rest;
        if v_bytes > 0 and clock_timestamp() > v_end then
            -- `rank` and `id` are those of the previous item.
            item := null;
            return next;
            return;
        end if;
        item := '{"message":' || message_view(v_hit, p_user) || ',"snippet":'
            || to_json(search_snippet(v_state.config, search_text(v_hit.type, v_hit.payload), v_prefixes)) || '}';
        rank := search_rank(v_hit.created_at);
        id := v_hit.id;
        return next;
        v_bytes := v_bytes + octet_length(item);
        if v_bytes > 1048576 then
            return;
        end if;
    end loop;
    if v_rest >= p_after_rank and v_bytes = 0 then
        raise exception using errcode = '57014', message = 'the search got no further';
    elsif v_rest is not null then
        item := null;
        rank := v_rest + 1;
        id := '00000000-0000-0000-0000-000000000000';
        return next;
    end if;
end $$;

-- Returns: milliseconds since 1970.
create or replace function search_rank(p_at timestamptz) returns bigint
language sql immutable parallel safe as $$
    select floor(extract(epoch from p_at) * 1000)::bigint
$$;

-- Returns: whether a message may be on a page: the member sees it, it has content, and it comes after the page before.
create or replace function search_is_due(m messages, p_member members, p_after_rank bigint, p_after_id uuid)
returns boolean
language sql stable as $$
    select m.deleted_at is null and m.payload is not null and m.seq >= p_member.hidden_before_seq
        and not (p_member.hides and message_is_hidden(p_member.thread_id, p_member.user_id, m.seq))
        and (p_after_rank is null or (search_rank(m.created_at), m.id) < (p_after_rank, p_after_id))
$$;

-- Returns: the newest matching messages of a thread, at most `p_limit`, and how far back it has looked by `p_until`.
--   p_head        the thread's last seq
--   p_upto        the last seq of its backlog
--   p_has_new     the index lacks the thread's newest messages
--   p_has_stale   there are messages with outdated words, perhaps of this thread
--   hits          newest first
--   rest          the time (search_rank) of the newest message that was not looked at; null: none is left
create or replace function search_thread(
    p_member members, p_state search_state, p_prefixes text[], p_head bigint, p_upto bigint, p_has_new boolean,
    p_has_stale boolean, p_limit int, p_after_rank bigint, p_after_id uuid, p_until timestamptz,
    out hits messages[], out rest bigint
)
language plpgsql stable as $$
declare
    -- At most this many index entries are read for a word; a more frequent word is looked for in the texts.
    v_entry_max constant int := 50000;
    v_thread uuid := p_member.thread_id;
    v_prefix text;
    v_with bigint[];
    v_seqs bigint[];
    v_is_exact boolean := true;
    v_stale bigint[] := '{}';
    v_top bigint := p_head;
    v_indexed bigint := p_head;
    v_lows bigint[];
    v_highs bigint[];
    v_part record;
begin
    hits := '{}';
    -- Word by word: in most threads this ends at the first word.
    foreach v_prefix in array p_prefixes loop
        v_with := array(select w.seq from message_words w
            where w.thread_id = v_thread
                and w.word >= v_prefix collate "C" and w.word < (v_prefix || U&'\+10FFFF') collate "C" limit v_entry_max + 1);
        if cardinality(v_with) > v_entry_max then
            v_is_exact := false;
            continue;
        end if;
        v_seqs := case when v_seqs is null then v_with
            else array(select s.seq from unnest(v_seqs) s (seq) intersect select w.seq from unnest(v_with) w (seq)) end;
        exit when v_seqs = '{}';
    end loop;
    if p_has_stale then
        v_stale := array(select distinct s.seq from search_stale s where s.thread_id = v_thread);
    end if;
    if v_seqs = '{}' and v_stale = '{}' and not p_has_new and p_upto = 0 then
        return;
    end if;
    if p_after_rank is not null then
        v_top := message_seq_at(v_thread, timestamptz 'epoch' + (p_after_rank + 1) * interval '1 ms') - 1;
    end if;
    if v_seqs is null then
        select * into v_part from search_read(p_member, p_state.config, p_prefixes, 1, v_top, null, null, p_limit,
            p_after_rank, p_after_id, p_until);
        hits := v_part.hits;
        rest := v_part.rest;
        return;
    end if;
    if p_has_new then
        v_indexed := search_indexed_seq(v_thread, p_state.pos);
    end if;
    -- From the newest to the oldest: messages not indexed yet, indexed ones, and the backlog.
    v_lows := array[greatest(v_indexed, p_upto) + 1, p_upto + 1, 1];
    v_highs := array[v_top, least(v_indexed, v_top), least(p_upto, v_top)];
    for v_index in 1..3 loop
        continue when v_lows[v_index] > v_highs[v_index];
        select * into v_part from search_read(p_member, p_state.config, p_prefixes, v_lows[v_index], v_highs[v_index],
            case v_index when 2 then v_seqs || v_stale end, case when v_is_exact then v_stale end, p_limit, p_after_rank,
            p_after_id, p_until);
        hits := hits || v_part.hits;
        rest := v_part.rest;
        exit when rest is not null or cardinality(hits) >= p_limit;
    end loop;
end $$;

-- Reads messages of a thread between two seqs, newest first, until `p_limit` match or the time is over.
--   p_seqs     only these; null: all
--   p_doubts   the texts of these are compared, the others are known to match; null: all are compared
-- Returns: as search_thread.
create or replace function search_read(
    p_member members, p_config text, p_prefixes text[], p_from bigint, p_to bigint, p_seqs bigint[], p_doubts bigint[],
    p_limit int, p_after_rank bigint, p_after_id uuid, p_until timestamptz, out hits messages[], out rest bigint
)
language plpgsql stable as $$
declare
    v_rows refcursor;
    v_message messages;
    v_has_looked boolean := false;
begin
    hits := '{}';
    if p_seqs is null then
        open v_rows for select m.* from messages m
            where m.thread_id = p_member.thread_id and m.seq between p_from and p_to order by m.seq desc;
    else
        open v_rows for select m.*
            from (select distinct s.seq from unnest(p_seqs) s (seq) where s.seq between p_from and p_to order by 1 desc) s
            cross join lateral (select x.* from messages x
                where x.thread_id = p_member.thread_id and x.seq between s.seq and s.seq order by x.seq limit 1) m
            order by s.seq desc;
    end if;
    loop
        fetch v_rows into v_message;
        exit when not found;
        -- Looks at one at least, so that each search gets further.
        if v_has_looked and clock_timestamp() > p_until then
            rest := search_rank(v_message.created_at);
            exit;
        end if;
        v_has_looked := true;
        if search_is_due(v_message, p_member, p_after_rank, p_after_id)
            and (p_seqs is not null and not v_message.seq = any (p_doubts)
                or search_matches(p_config, search_text(v_message.type, v_message.payload), p_prefixes)) then
            hits := hits || v_message;
            exit when cardinality(hits) = p_limit;
        end if;
    end loop;
    close v_rows;
end $$;

-- Returns: the last seq of a thread whose message was sent up to a position, 0 without one. Searches from the thread's
-- end, past messages that are read next in any case.
create or replace function search_indexed_seq(p_thread uuid, p_pos bigint) returns bigint
language plpgsql stable as $$
begin
    return coalesce((select m.seq from messages m where m.thread_id = p_thread and m.pos <= p_pos
        order by m.seq desc limit 1), 0);
end $$;
