-- Full-text search: what a message's words are, and finding messages by them. The index's upkeep is in search_index.sql.

-- A text as search compares it: lower case, without accents and without what only differs in how it is written. The one
-- place for the index, for what is looked for, and for the marks in snippets.
-- By normal form and not by the unaccent extension, which needs not be there and is nobody's to create.
create or replace function search_fold(p_text text) returns text
language sql immutable parallel safe as $$
    select case when octet_length(p_text) = length(p_text) then lower(p_text) else
        replace(replace(replace(translate(
            lower(regexp_replace(normalize(p_text, NFKD),
                '[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed'
                '\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+', '', 'g')),
            'øđðłħŧıς', 'oddlhtiσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') end
$$;

-- What stands between words, as a bracket expression's inside: ASCII but for letters and digits, and the blocks of
-- punctuation and arrows. By code point, because character classes depend on the database's locale.
create or replace function search_separators() returns text
language sql immutable parallel safe as $$
    select '\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7'
        '\u2000-\u206f\u20a0-\u20cf\u2190-\u23ff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u3036-\u303f'
        '\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65'
$$;

-- The words of a text, each once. Under the configuration `simple` they are what stands between separators; under
-- another one what its dictionaries make of those (stems, without stop words).
create or replace function search_words(p_config text, p_text text) returns text[]
language plpgsql stable as $$
declare
    v_text text := search_fold(p_text);
begin
    if p_config = 'simple' then
        return array(select distinct left(w.word, 64)
            from regexp_split_to_table(v_text, '[' || search_separators() || ']+') w (word) where w.word <> '');
    end if;
    return array(select distinct left(w.word, 64) from unnest(tsvector_to_array(to_tsvector(p_config::regconfig,
        regexp_replace(v_text, '[' || search_separators() || ']+', ' ', 'g')))) w (word));
end $$;

-- What is searched of a message; null for those that have no text, and for withdrawn ones.
create or replace function search_text(p_type text, p_payload json) returns text
language sql immutable parallel safe as $$
    select case
        when p_type in ('system', 'encrypted') then null
        when p_type = 'location' then p_payload ->> 'label'
        when json_typeof(p_payload -> 'text') = 'string' then p_payload ->> 'text' end
$$;

-- Whether each of `p_prefixes` begins one of the text's words. Nearly all texts lack one of them altogether, which is
-- told without taking them apart, unless a dictionary makes other words of what is written.
create or replace function search_matches(p_config text, p_text text, p_prefixes text[]) returns boolean
language plpgsql stable as $$
declare
    v_text text;
    v_prefix text;
    v_words text[];
begin
    if p_config = 'simple' then
        v_text := search_fold(p_text);
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

-- Whether one of `p_prefixes` begins a word of the text.
create or replace function search_is_marked(p_config text, p_text text, p_prefixes text[]) returns boolean
language sql stable as $$
    select exists (select from unnest(search_words(p_config, p_text)) w (word), unnest(p_prefixes) p (prefix)
        where starts_with(w.word, p.prefix))
$$;

create or replace function html_escape(p_text text) returns text
language sql immutable parallel safe as $$
    select replace(replace(replace(replace(replace(p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'),
        '''', '&#39;')
$$;

-- A piece of the text around the first of what was looked for, as HTML: escaped, with <mark> around the words that it
-- was found by, and … where something was left out. Costs a look at each word up to there.
create or replace function search_snippet(p_config text, p_text text, p_prefixes text[]) returns text
language plpgsql stable as $$
declare
    v_before constant int := 40;
    v_length_max constant int := 200;
    -- Words, and what is between them.
    v_tokens text[] := array(select t.token[1] from regexp_matches(p_text,
        '([' || search_separators() || ']+|[^' || search_separators() || ']+)', 'g') t (token));
    v_first int;
    v_from int;
    v_length int := 0;
    v_piece text;
    v_snippet text := '';
begin
    for v_index in 1..cardinality(v_tokens) loop
        if search_is_marked(p_config, v_tokens[v_index], p_prefixes) then
            v_first := v_index;
            exit;
        end if;
    end loop;
    v_from := coalesce(v_first, 1);
    while v_from > 1 and v_length + length(v_tokens[v_from - 1]) <= v_before loop
        v_from := v_from - 1;
        v_length := v_length + length(v_tokens[v_from]);
    end loop;
    if v_from > 1 then
        v_snippet := '…';
    end if;
    v_length := 0;
    for v_index in v_from..cardinality(v_tokens) loop
        if v_length >= v_length_max then
            return v_snippet || '…';
        end if;
        v_piece := left(v_tokens[v_index], v_length_max);
        v_length := v_length + length(v_piece);
        v_snippet := v_snippet || case
            when v_index >= v_first and search_is_marked(p_config, v_tokens[v_index], p_prefixes)
            then '<mark>' || html_escape(v_piece) || '</mark>' else html_escape(v_piece) end;
    end loop;
    return v_snippet;
end $$;

-- Messages with words that begin with all those of `p_query`, newest first, in the threads that the user has joined, or
-- in one of them: rows of JSON text {message, snippet}, and rank and id to go on from. What the index doesn't have yet
-- is looked through, so that a message is found from the moment it is sent; index, state and messages are of one
-- snapshot.
-- Costs some index probes a thread of the user's; the threads with the newest messages are asked first, and those that
-- can't add to the page not at all.
-- Fails: with a thread PY404 thread_not_found, PY403 not_joined; PY422 (q: has no word, or more than 16).
-- locks: nothing
create or replace function message_search(
    p_user uuid, p_thread uuid, p_query text, p_limit int, p_after_rank bigint, p_after_id uuid
) returns table (item text, rank bigint, id uuid)
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_state search_state;
    v_prefixes text[];
    v_place record;
    v_found messages[];
    v_hits messages[] := '{}';
begin
    if p_thread is not null then
        perform member_joined(p_thread, p_user);
    end if;
    select * into v_state from search_state s;
    v_prefixes := search_words(v_state.config, p_query);
    if cardinality(v_prefixes) not between 1 and 16 then
        raise exception using errcode = 'PY422', message = 'invalid', hint = 'q',
            detail = 'Must have a word to look for, and at most 16.';
    end if;

    for v_place in
        select m as member, h.created_at, h.pos, coalesce(b.upto_seq, 0) as upto_seq
        from members m
        cross join lateral (select x.created_at, x.pos from messages x where x.thread_id = m.thread_id
            order by x.seq desc limit 1) h
        left join search_backlog b on b.thread_id = m.thread_id
        where m.user_id = p_user and m.status = 'joined' and (p_thread is null or m.thread_id = p_thread)
        order by h.created_at desc
    loop
        exit when v_place.created_at < (v_hits[p_limit]).created_at;
        v_found := search_indexed(v_place.member, v_prefixes, p_limit, p_after_rank, p_after_id);
        if v_place.pos > v_state.pos then
            v_found := v_found || search_unindexed(v_place.member, v_state.config, v_prefixes, p_limit, p_after_rank,
                p_after_id, search_indexed_seq((v_place.member).thread_id, v_state.pos) + 1, null);
        end if;
        if v_place.upto_seq > 0 then
            v_found := v_found || search_unindexed(v_place.member, v_state.config, v_prefixes, p_limit, p_after_rank,
                p_after_id, 1, v_place.upto_seq);
        end if;
        if cardinality(v_found) > 0 then
            v_hits := array(select h from (select distinct on (f.created_at, f.id) f as h from unnest(v_hits || v_found) f
                order by f.created_at desc, f.id desc) h limit p_limit);
        end if;
    end loop;

    return query
    select '{"message":' || message_view(h, p_user) || ',"snippet":'
        || to_json(search_snippet(v_state.config, search_text(h.type, h.payload), v_prefixes)) || '}',
        search_rank(h.created_at), h.id
    from unnest(v_hits) h order by h.created_at desc, h.id desc;
end $$;

-- Milliseconds since 1970.
create or replace function search_rank(p_at timestamptz) returns bigint
language sql immutable parallel safe as $$
    select floor(extract(epoch from p_at) * 1000)::bigint
$$;

-- Whether a message may be on a page: the member sees it, it has content, and it comes after the page before.
create or replace function search_is_due(m messages, p_member members, p_after_rank bigint, p_after_id uuid)
returns boolean
language sql stable as $$
    select m.deleted_at is null and m.payload is not null and m.seq >= p_member.hidden_before_seq
        and not (p_member.hides and message_is_hidden(p_member.thread_id, p_member.user_id, m.seq))
        and (p_after_rank is null or (search_rank(m.created_at), m.id) < (p_after_rank, p_after_id))
$$;

-- The newest of a thread's messages that the index has all the words for.
create or replace function search_indexed(
    p_member members, p_prefixes text[], p_limit int, p_after_rank bigint, p_after_id uuid
) returns messages[]
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
    v_prefix text;
    v_with bigint[];
    v_seqs bigint[];
begin
    -- Word by word: in most threads this ends at the first one.
    foreach v_prefix in array p_prefixes loop
        v_with := array(select distinct w.seq from message_words w
            where w.thread_id = p_member.thread_id
                and w.word >= v_prefix collate "C" and w.word < (v_prefix || U&'\+10FFFF') collate "C");
        v_seqs := case when v_seqs is null then v_with
            else array(select s.seq from unnest(v_seqs) s (seq) intersect select w.seq from unnest(v_with) w (seq)) end;
        if v_seqs = '{}' then
            return '{}';
        end if;
    end loop;
    return array(
        select m
        from (select s.seq from unnest(v_seqs) s (seq) order by s.seq desc) s
        cross join lateral (select x.* from messages x
            where x.thread_id = p_member.thread_id and x.seq between s.seq and s.seq order by x.seq limit 1) m
        where search_is_due(m, p_member, p_after_rank, p_after_id)
        order by s.seq desc limit p_limit);
end $$;

-- The newest of a thread's messages in a range of seqs, open at its end if that is null, by reading them.
create or replace function search_unindexed(
    p_member members, p_config text, p_prefixes text[], p_limit int, p_after_rank bigint, p_after_id uuid,
    p_from bigint, p_upto bigint
) returns messages[]
language plpgsql stable
set enable_seqscan = off
as $$
begin
    return array(
        select m
        from messages m
        where m.thread_id = p_member.thread_id and m.seq >= p_from and (p_upto is null or m.seq <= p_upto)
            and search_is_due(m, p_member, p_after_rank, p_after_id)
            and search_matches(p_config, search_text(m.type, m.payload), p_prefixes)
        order by m.seq desc limit p_limit);
end $$;

-- The last seq of a thread whose message was sent up to a position, 0 without one. Found from the thread's end, past what
-- is read through next in any case.
drop function if exists search_seq_after(uuid, bigint);
create or replace function search_indexed_seq(p_thread uuid, p_pos bigint) returns bigint
language plpgsql stable
set enable_seqscan = off
as $$
begin
    return coalesce((select m.seq from messages m where m.thread_id = p_thread and m.pos <= p_pos
        order by m.seq desc limit 1), 0);
end $$;
