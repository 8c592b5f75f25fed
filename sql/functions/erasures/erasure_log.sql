-- Removing the names of erased users from the log.

-- Removes names from the next `p_limit` events of the log. One walk serves up to 100 users whose threads are done. Each
-- user has a position to begin at (account_erase). Users whose position the walk has not reached join it; the others
-- wait for the next walk. No session can write the names any more: each thread has been locked since, and new members
-- are checked.
-- Returns: 1; 0 if no user needs a walk, or another session walks.
-- Locks: the walk (returns if it is locked), the events' rows, at the end the log
create or replace function erasure_walk(p_limit int) returns int
language plpgsql volatile
set plan_cache_mode = force_generic_plan
as $$
declare
    v_count_max constant int := 100;
    v_from bigint;
    -- The next position at which other users join the walk.
    v_next bigint;
    v_last bigint;
    v_is_end boolean;
    v_users uuid[];
begin
    -- An idle node asks often, and locking the row is a write.
    if not exists (select from erasures) or not lock_row_free('erasure walk') then
        return 0;
    end if;
    v_from := (select min(e.pos) from erasures e where e.walks);
    update erasures e set walks = true
    where e.user_id = any (array(
        select x.user_id from erasures x
        where not x.walks and (v_from is null or x.pos >= v_from)
            and not exists (select from erasure_threads t where t.user_id = x.user_id)
        order by x.pos limit greatest(0, v_count_max - (select count(*) from erasures y where y.walks))));
    v_from := (select min(e.pos) from erasures e where e.walks);
    if v_from is null then
        return 0;
    end if;
    v_users := array(select e.user_id from erasures e where e.walks and e.pos = v_from);
    v_next := (select min(e.pos) from erasures e where e.walks and e.pos > v_from);
    select max(x.pos), count(*) < p_limit into v_last, v_is_end
    from (select e.pos from events e where e.pos > v_from order by e.pos limit p_limit) x;
    if v_next <= v_last then
        v_last := v_next;
        v_is_end := false;
    end if;
    -- Only integrations still read events that are for one of these users alone. Of the others only the positions
    -- count.
    update events e set body = case when e.user_id = any (v_users) and e.is_change is not true then event_json(e.type, e.thread_id, e.at, '{}')
        else erasure_event(e.type, e.body, v_users) end,
        name = case when e.actor_id = any (v_users) and e.message_id is not null then erased_name() else e.name end,
        image = case when e.actor_id = any (v_users) then null else e.image end
    where e.pos > v_from and e.pos <= v_last and (e.user_id = any (v_users)
        or (e.message_id is not null and e.actor_id = any (v_users)) or erasure_concerns(e.body, v_users::text[]));
    if v_is_end then
        perform erasure_end(v_users);
    else
        update erasures e set pos = v_last where e.user_id = any (v_users);
    end if;
    return 1;
end $$;

-- Returns: whether the JSON names one of the users.
-- Costs: 1 µs for each user; a regular expression of all users costs twice as much
create or replace function erasure_concerns(p_body text, p_users text[]) returns boolean
language plpgsql immutable as $$
declare
    v_user text;
begin
    foreach v_user in array p_users loop
        if strpos(p_body, v_user) > 0 then
            return true;
        end if;
    end loop;
    return false;
end $$;

-- Returns: an event's JSON without the names of these users.
create or replace function erasure_event(p_type text, p_body text, p_users uuid[]) returns text
language plpgsql immutable as $$
declare
    v_body text := p_body;
    v_user uuid;
begin
    foreach v_user in array p_users loop
        if strpos(v_body, v_user::text) > 0 then
            v_body := erasure_event_user(p_type, v_body, v_user);
        end if;
    end loop;
    return v_body;
end $$;

-- Returns: an event's JSON without the user's name. The title and image of a direct thread are the user's, so they are
-- removed as well.
create or replace function erasure_event_user(p_type text, p_body text, p_user uuid) returns text
language plpgsql immutable as $$
declare
    v_body text := p_body;
begin
    if p_type = 'thread.created' and v_body ~ ('"peer" ?: ?\{"id" ?: ?"' || p_user || '"') then
        v_body := regexp_replace(v_body, '"title" ?: ?"(?:[^"\\]|\\.)*"', '"title": "' || erased_name() || '"');
        v_body := regexp_replace(v_body, '"image" ?: ?"(?:[^"\\]|\\.)*"', '"image": null');
    end if;
    return erasure_text(v_body, p_user);
end $$;

-- Returns: JSON text in which each object that begins with the user's id has the erased name, and nulls for its other
-- members. Works on text, so that nothing else changes, such as the numbers of a payload. `{"id"` never occurs inside a
-- string, where quotes are escaped; so the object is read from its beginning, and only its simple members. `custom`,
-- the one that is not simple, becomes null first.
create or replace function erasure_text(p_text text, p_user uuid) returns text
language plpgsql immutable as $$
declare
    v_text text := erasure_custom(p_text, p_user);
    v_found text;
    v_string constant text := '"(?:[^"\\]|\\.)*"';
begin
    for v_found in
        select distinct f.piece[1]
        from regexp_matches(v_text, '(\{"id" ?: ?"' || p_user || '"(?:, ?"[a-z_]+" ?: ?(?:' || v_string || '|null))+)', 'g') f (piece)
    loop
        v_text := replace(v_text, v_found, regexp_replace(regexp_replace(v_found,
            '"name" ?: ?' || v_string, '"name":"' || erased_name() || '"'),
            '"(username|profile_image|status_text|last_seen_at|presence)" ?: ?' || v_string, '"\1":null', 'g'));
    end loop;
    return v_text;
end $$;

-- Returns: JSON text with null for the `custom` of each object that begins with the user's id.
create or replace function erasure_custom(p_text text, p_user uuid) returns text
language plpgsql immutable as $$
declare
    v_text text := p_text;
    -- The object up to the value, which is an object, too.
    v_before constant text := '(\{"id" ?: ?"' || p_user
        || '"(?:, ?"[a-z_]+" ?: ?(?:"(?:[^"\\]|\\.)*"|null))*, ?"custom" ?: ?)\{';
    v_found text;
    v_at int;
begin
    if strpos(p_text, '"custom"') = 0 then
        return p_text;
    end if;
    loop
        v_found := substring(v_text from v_before);
        exit when v_found is null;
        v_at := strpos(v_text, v_found || '{') + length(v_found);
        v_text := left(v_text, v_at - 1) || 'null' || substr(v_text, v_at + json_object_length(substr(v_text, v_at)));
    end loop;
    return v_text;
end $$;

-- Returns: how many characters the JSON object has with which the text begins.
create or replace function json_object_length(p_text text) returns int
language plpgsql immutable as $$
declare
    v_piece text;
    v_depth int := 0;
    v_length int := 0;
begin
    -- The object has at most 4 KiB (CustomData), and some spaces more.
    for v_piece in select f.piece[1]
        from regexp_matches(left(p_text, 32768), '("(?:[^"\\]|\\.)*"|[{}]|[^"{}]+)', 'g') f (piece) loop
        v_length := v_length + length(v_piece);
        v_depth := v_depth + case v_piece when '{' then 1 when '}' then -1 else 0 end;
        exit when v_depth = 0;
    end loop;
    return v_length;
end $$;
