-- Accounts. Failures that the caller is to see are raised in class PY: the SQLSTATE's digits are the HTTP status,
-- the message a stable code, the detail a sentence, the hint (with PY422) the field.

create or replace function user_refuse() returns void
language plpgsql volatile as $$
begin
    raise exception using errcode = 'PY404', message = 'user_not_found', detail = 'There is no such user.';
end $$;

-- Makes an account; `p_username` and `p_password_hash` may be null, `p_key` and `p_words` come case-folded.
-- Fails: PY409 username_taken.
-- locks: the user name's unique key
create or replace function account_insert(
    p_user uuid, p_username text, p_key text, p_name text, p_words text[], p_password_hash text
) returns void
language plpgsql volatile as $$
begin
    insert into users (id, username, username_key, name, password_hash, created_at)
    values (p_user, p_username, p_key, p_name, p_password_hash, stamp())
    on conflict (username_key) do nothing;
    if not found then
        raise exception using errcode = 'PY409', message = 'username_taken',
            detail = 'This username is taken. Choose another username.';
    end if;
    insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
end $$;

-- Makes an account that signs in by password, with its first session; `p_key` and `p_words` come case-folded.
-- Fails: PY409 username_taken.
-- locks: the user name's unique key
create or replace function account_register(
    p_user uuid, p_username text, p_key text, p_name text, p_words text[], p_password_hash text,
    p_session uuid, p_digest bytea, p_device text
) returns table (account text, session text)
language plpgsql volatile as $$
begin
    perform account_insert(p_user, p_username, p_key, p_name, p_words, p_password_hash);
    return query select s.account, s.session from session_create(p_user, p_session, p_digest, p_device) s;
end $$;

-- With the presence that others see, so that one sees whether one shares it.
create or replace function account_get(p_user uuid) returns text
language plpgsql stable as $$
begin
    return (select account_json(u, p.presence, p.last_seen_at)::text
        from users u cross join lateral presence_of(u) p where u.id = p_user);
end $$;

-- Changes what `p_changes` names (name, profile_image, status_text, preferences) and notifies the account's own devices,
-- and who sees it in threads of up to 100 members: in the first threads at once, in the rest by announcement_continue.
-- Fails: PY401 invalid_token (the account was erased meanwhile).
-- locks: the user's row, the announcement, then the log
create or replace function account_update(p_user uuid, p_changes json, p_words text[]) returns text
language plpgsql volatile as $$
declare
    v_user users;
    v_changes jsonb := p_changes::jsonb;
    v_is_profile boolean := v_changes ?| array['name', 'profile_image', 'status_text'];
    v_now timestamptz := stamp();
    v_last bigint;
begin
    update users u set
        name = coalesce(v_changes ->> 'name', u.name),
        profile_image = case when v_changes ? 'profile_image' then v_changes ->> 'profile_image'
            else u.profile_image end,
        status_text = case when v_changes ? 'status_text' then v_changes ->> 'status_text' else u.status_text end,
        preferences = coalesce(p_changes -> 'preferences', u.preferences)
    where u.id = p_user and u.erased_at is null returning u.* into v_user;
    if not found then
        raise exception using errcode = 'PY401', message = 'invalid_token',
            detail = 'The token is invalid, or its session has ended. Sign in again.';
    end if;
    if v_changes ? 'name' then
        delete from user_words w where w.user_id = p_user;
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
    end if;
    if v_is_profile then
        perform announcement_begin('profile', p_user);
    end if;
    v_last := log_begin() + 1;
    insert into events (pos, at, type, user_id, body)
    values (v_last, v_now, 'user.updated', p_user, event_json('user.updated', null, v_now, account_json(v_user)::text));
    if v_is_profile then
        v_last := announcement_write('profile', p_user, null, v_last, v_now, announcement_limit());
    end if;
    perform log_announce(v_last);
    return account_get(p_user);
end $$;

-- A profile. Presence is shown to oneself and to those who share a thread, but to nobody whom the user has blocked.
-- Beside the one of before, a call that leaves out the viewer would be ambiguous.
drop function if exists user_get(uuid);
create or replace function user_get(p_user uuid, p_viewer uuid default null) returns text
language sql stable as $$
    select case when p_viewer = p_user or (users_share_thread(p_viewer, p_user) and not exists (
            select from blocks b where b.user_id = p_user and b.blocked_id = p_viewer)) then profile_json(u) else user_json(u) end::text
    from users u where u.id = p_user and u.erased_at is null
$$;

-- The directory: users of whom a word of the name, or the username, begins with `p_prefix` (folded by the caller).
-- An exact word ranks before a longer one; within a rank the oldest account first. Presence is shown of those with whom the
-- viewer has a direct thread, which is an index probe a row; whether people share any other would be one for each thread.
-- The one with fewer arguments would make a call that leaves out the viewer ambiguous.
drop function if exists user_search(text, int, bigint, uuid);
create or replace function user_search(
    p_prefix text, p_limit int, p_after_rank bigint, p_after_id uuid, p_viewer uuid default null
) returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select case when u.id = p_viewer or users_have_direct(p_viewer, u.id) then profile_json(u) else user_json(u) end::text,
        p.rank, u.id
    from (
        select f.user_id, f.rank
        from (
            select w.user_id, min(case when w.word = p_prefix then 0 else 1 end)::bigint as rank
            from user_words w
            where w.word >= p_prefix collate "C" and w.word < (p_prefix || U&'\+10FFFF') collate "C"
            group by w.user_id
        ) f
        where p_after_rank is null or (f.rank, f.user_id) > (p_after_rank, p_after_id)
        order by f.rank, f.user_id
        limit p_limit
    ) p
    join users u on u.id = p.user_id
    order by p.rank, u.id
$$;
