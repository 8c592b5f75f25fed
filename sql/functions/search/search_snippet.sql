-- The part of a message that a search result shows, with the matching words marked.

-- Returns: whether one of `p_prefixes` begins a word of the text.
create or replace function search_is_marked(p_config text, p_text text, p_prefixes text[]) returns boolean
language plpgsql stable as $$
begin
    return exists (select from unnest(search_words(p_config, p_text)) w (word), unnest(p_prefixes) p (prefix)
        where starts_with(w.word, p.prefix));
end $$;

-- Returns: the text with the special characters of HTML escaped.
create or replace function html_escape(p_text text) returns text
language sql immutable parallel safe as $$
    select replace(replace(replace(replace(replace(p_text, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'),
        '''', '&#39;')
$$;

-- Returns: where the text's first word begins that starts with one of `p_prefixes`, or up to 1,000 characters before
-- it; 1 without any.
-- Costs: a look at each 900 characters up to there
create or replace function search_place(p_config text, p_text text, p_prefixes text[]) returns int
language plpgsql stable as $$
declare
    v_at int := 1;
    v_piece text;
begin
    while v_at <= least(length(p_text), search_length_max()) loop
        -- Pieces overlap by more than the part of a word that counts, and begin with a whole word.
        v_piece := substr(p_text, v_at, 1000);
        if v_at > 1 then
            v_piece := regexp_replace(v_piece, '^[^' || search_separators() || ']+', '');
        end if;
        if search_is_marked(p_config, v_piece, p_prefixes) then
            return v_at;
        end if;
        v_at := v_at + 900;
    end loop;
    return 1;
end $$;

-- Returns: a part of the text around the first match, as HTML: escaped, with <mark> around matching words, and … where
-- text is left out.
create or replace function search_snippet(p_config text, p_text text, p_prefixes text[]) returns text
language plpgsql stable as $$
declare
    v_before constant int := 40;
    v_length_max constant int := 200;
    -- The part of the text that the snippet is taken from, with some characters before it.
    v_from_char int := case when length(p_text) <= 1500 then 1
        else greatest(1, search_place(p_config, p_text, p_prefixes) - 100) end;
    v_part text := substr(p_text, v_from_char, 1500);
    -- Words and the separators between them.
    v_tokens text[] := array(select t.token[1] from regexp_matches(v_part,
        '([' || search_separators() || ']+|[^' || search_separators() || ']+)', 'g') t (token));
    -- The pattern of a token that may be marked. Words contain no wildcards; separators may.
    v_patterns text[] := array(select case p_config when 'simple' then '%' || p.prefix || '%' else '%' end
        from unnest(p_prefixes) p (prefix));
    v_first int;
    v_from int;
    v_length int := 0;
    v_piece text;
    v_snippet text := '';
begin
    if v_from_char > 1 then
        -- This may be the end of a word.
        v_tokens := v_tokens[2:];
    end if;
    for v_index in 1..cardinality(v_tokens) loop
        if search_fold(v_tokens[v_index]) like any (v_patterns) then
            if search_is_marked(p_config, v_tokens[v_index], p_prefixes) then
                v_first := v_index;
                exit;
            end if;
        end if;
    end loop;
    v_from := coalesce(v_first, 1);
    while v_from > 1 and v_length + length(v_tokens[v_from - 1]) <= v_before loop
        v_from := v_from - 1;
        v_length := v_length + length(v_tokens[v_from]);
    end loop;
    if v_from > 1 or v_from_char > 1 then
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
    return v_snippet || case when v_from_char + length(v_part) <= length(p_text) then '…' else '' end;
end $$;
