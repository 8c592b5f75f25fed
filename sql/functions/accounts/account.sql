-- Accounts.

-- Creates an account, or a bot. `p_username` and `p_password_hash` may be null; `p_key` and `p_words` are case-folded by
-- the caller. `p_image` is the picture of a bot that administrators make.
-- Fails: PY409 username_taken.
-- Locks: the unique key of the username
create or replace function account_insert(
    p_user uuid, p_username text, p_key text, p_name text, p_words text[], p_password_hash text,
    p_is_bot boolean default false, p_image text default null
) returns void
language plpgsql volatile as $$
begin
    insert into users (id, username, username_key, name, profile_image, password_hash, is_bot, created_at)
    values (p_user, p_username, p_key, p_name, p_image, p_password_hash, nullif(p_is_bot, false), stamp())
    on conflict (username_key) do nothing;
    if not found then
        perform refuse(409, 'username_taken', 'This username is taken. Choose another username.');
    end if;
    insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
end $$;

-- Creates an account that signs in by password, with its first session. `p_key` and `p_words` are case-folded by the
-- caller. Uses `p_invitation`, unless it is null.
-- Fails: PY409 username_taken; PY403 invitation_invalid.
-- Locks: the invitation, the unique key of the username
create or replace function account_register(
    p_user uuid, p_username text, p_key text, p_name text, p_words text[], p_password_hash text,
    p_session uuid, p_digest bytea, p_device text, p_invitation uuid default null
) returns table (account text, session text)
language plpgsql volatile as $$
begin
    if p_invitation is not null then
        perform invitation_spend(p_invitation);
    end if;
    perform account_insert(p_user, p_username, p_key, p_name, p_words, p_password_hash);
    return query select s.account, s.session from session_create(p_user, p_session, p_digest, p_device) s;
end $$;

-- Returns: the account with its presence as others see it, so that users see whether they share it.
create or replace function account_get(p_user uuid) returns text
language plpgsql stable as $$
begin
    return (select account_json(u, p.presence, p.last_seen_at)::text
        from users u cross join lateral presence_of(u) p where u.id = p_user);
end $$;

-- Changes the members of `p_changes` (name, profile_image, status_text, preferences, custom). Notifies the account's own
-- devices, and the people who see the account in threads of up to 100 members: in the first threads at once, in the
-- others by announcement_continue. The server (`p_is_server`) also changes username and email, each with its `…_key`,
-- and changes nothing where all is set already. `p_words` are the directory's words that result.
-- Fails: PY401 invalid_token (the account was erased meanwhile); PY409 username_taken, email_taken; as
-- attachment_use_picture.
-- Locks: the user's row, the unique keys of username and address, the attachments by id, the announcement, then the log
create or replace function account_update(
    p_user uuid, p_changes json, p_words text[], p_is_server boolean default false) returns text
language plpgsql volatile as $$
declare
    v_old users;
    v_user users;
    v_changes jsonb := p_changes::jsonb;
    v_is_profile boolean := v_changes ?| array['name', 'profile_image', 'status_text', 'custom', 'username'];
    v_now timestamptz := stamp();
    v_last bigint;
begin
    select * into v_old from users u where u.id = p_user for no key update;
    if p_is_server then
        perform account_rename(p_user, v_changes);
    end if;
    update users u set
        name = coalesce(v_changes ->> 'name', u.name),
        profile_image = case when v_changes ? 'profile_image' then v_changes ->> 'profile_image'
            else u.profile_image end,
        status_text = case when v_changes ? 'status_text' then v_changes ->> 'status_text' else u.status_text end,
        preferences = coalesce(p_changes -> 'preferences', u.preferences),
        custom = case when v_changes ? 'custom' then p_changes ->> 'custom' else u.custom end
    where u.id = p_user and u.erased_at is null returning u.* into v_user;
    if not found then
        perform caller_refuse();
    end if;
    if v_changes ? 'profile_image' then
        perform attachment_use_picture('profile', p_user, p_user, v_old.profile_image, v_user.profile_image, 'profile_image');
    end if;
    if p_is_server and v_user::text = v_old::text then
        return account_get(p_user);
    end if;
    if v_changes ?| array['name', 'username'] then
        delete from user_words w where w.user_id = p_user;
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
    end if;
    if v_is_profile then
        perform announcement_begin('profile', p_user);
    end if;
    v_last := log_begin() + 1;
    insert into events (pos, at, type, user_id, actor_id, body)
    values (v_last, v_now, 'user.updated', p_user, case when not p_is_server then p_user end,
        event_json('user.updated', null, v_now, account_json(v_user)::text));
    if v_is_profile then
        v_last := change_log(v_last, v_now, 'user.updated', null, case when not p_is_server then p_user end,
            user_json(v_user)::text);
        v_last := announcement_write('profile', p_user, null, v_last, v_now, announcement_limit());
    end if;
    perform log_announce(v_last);
    return account_get(p_user);
end $$;

-- Changes the username and the e-mail address by which an account signs in.
-- Fails: PY409 username_taken, email_taken.
-- Locks: the unique keys; the caller holds the user's row
create or replace function account_rename(p_user uuid, p_changes jsonb) returns void
language plpgsql volatile as $$
declare
    v_constraint text;
begin
    if p_changes ?| array['username', 'email'] then
        update users u set
            username = case when p_changes ? 'username' then p_changes ->> 'username' else u.username end,
            username_key = case when p_changes ? 'username' then p_changes ->> 'username_key' else u.username_key end,
            email = case when p_changes ? 'email' then p_changes ->> 'email' else u.email end,
            email_key = case when p_changes ? 'email' then p_changes ->> 'email_key' else u.email_key end
        where u.id = p_user;
    end if;
exception when unique_violation then
    get stacked diagnostics v_constraint = constraint_name;
    if v_constraint = 'users_by_email' then
        perform refuse(409, 'email_taken', 'Another account has this e-mail address.');
    end if;
    perform refuse(409, 'username_taken', 'This username is taken. Choose another username.');
end $$;
