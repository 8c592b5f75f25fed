-- Signs in the user of a token of the host app. Creates the account at the first use; afterwards updates its profile
-- from the token. `p_user` is the id of a new account. `p_name` and `p_image` are null if the token does not have them;
-- `p_words` are the directory's words of the name. Two simultaneous first uses, on any nodes, get the same account: the
-- second waits for the first at the unique key.
-- Locks: the unique key of the external id, the user's row, its sessions if the profile changes, then as
-- session_create
create or replace function account_delegate(
    p_external_id text, p_user uuid, p_name text, p_name_or_else text, p_words text[], p_image text,
    p_session uuid, p_digest bytea, p_device text, p_count_max int default 100
) returns table (account text, session text, ended uuid[])
language plpgsql volatile as $$
declare
    v_user users;
    v_changes jsonb := '{}';
    v_session text;
    v_ended uuid[];
begin
    insert into users (id, external_id, name, profile_image, created_at)
    values (p_user, p_external_id, coalesce(p_name, p_name_or_else), p_image, stamp())
    on conflict (external_id) where external_id is not null do nothing;
    if found then
        insert into user_words (word, user_id) select distinct w.word, p_user from unnest(p_words) w (word);
        return query select s.account, s.session, s.ended
        from session_create(p_user, p_session, p_digest, p_device, p_count_max) s;
        return;
    end if;
    select u.* into v_user from users u where u.external_id = p_external_id for no key update;
    if p_name <> v_user.name then
        v_changes := jsonb_build_object('name', p_name);
    end if;
    if p_image is distinct from v_user.profile_image and p_image is not null then
        v_changes := v_changes || jsonb_build_object('profile_image', p_image);
    end if;
    if v_changes <> '{}' then
        -- Before the log's lock, which comes last: the new session may end one of them.
        perform from sessions s where s.user_id = v_user.id order by s.id for update;
        -- An account that was given a username is also found by it.
        perform account_update(v_user.id, v_changes::json,
            case when v_user.username_key is null then p_words else p_words || v_user.username_key end);
    end if;
    select s.session, s.ended into v_session, v_ended
    from session_create(v_user.id, p_session, p_digest, p_device, p_count_max) s;
    return query select account_get(v_user.id), v_session, v_ended;
end $$;
