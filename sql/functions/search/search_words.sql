-- The words of a message, for the index, for queries and for the marks in snippets.

-- Returns: a text as search compares it: lower case, without accents, and without variants of writing. By Unicode
-- normal form rather than by the unaccent extension, which may be missing and which only a superuser can create.
create or replace function search_fold(p_text text) returns text
language sql immutable parallel safe as $$
    select case when octet_length(p_text) = length(p_text) then lower(p_text) else
        replace(replace(replace(translate(
            lower(regexp_replace(normalize(p_text, NFKD),
                '[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed'
                '\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+', '', 'g')),
            'øđðłħŧıς', 'oddlhtiσ'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') end
$$;

-- Returns: the characters between words, as the inside of a bracket expression: ASCII without letters and digits, and
-- the blocks of punctuation and arrows. By code point, because character classes depend on the database's locale.
create or replace function search_separators() returns text
language sql immutable parallel safe as $$
    select '\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7'
        '\u2000-\u206f\u20a0-\u20cf\u2190-\u23ff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u3036-\u303f'
        '\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65'
$$;

-- Returns: how much of a text is searched, in characters.
create or replace function search_length_max() returns int
language sql immutable parallel safe as $$ select 16384 $$;

-- Returns: the words of a text, each once, in the order of their first occurrence: those of the first 16,384
-- characters, at most 2,000. Under the configuration `simple`, words are what is between separators; under others,
-- what the dictionaries make of those (stems, without stop words).
create or replace function search_words(p_config text, p_text text) returns text[]
language plpgsql stable as $$
declare
    v_text text := search_fold(left(p_text, search_length_max()));
begin
    if p_config = 'simple' then
        return array(select left(s.word, 64)
            from regexp_split_to_table(v_text, '[' || search_separators() || ']+') with ordinality s (word, place)
            where s.word <> '' group by 1 order by min(s.place) limit 2000);
    end if;
    return array(select left(l.lexeme, 64) from unnest(to_tsvector(p_config::regconfig,
        regexp_replace(v_text, '[' || search_separators() || ']+', ' ', 'g'))) l
        group by 1 order by min(l.positions[1]), 1 limit 2000);
end $$;

-- Returns: the searchable text of a message; null for messages without text, and for withdrawn ones.
create or replace function search_text(p_type text, p_payload json) returns text
language sql immutable parallel safe as $$
    select case
        when p_type in ('system', 'encrypted') then null
        when p_type = 'location' then p_payload ->> 'label'
        when json_typeof(p_payload -> 'text') = 'string' then p_payload ->> 'text' end
$$;
