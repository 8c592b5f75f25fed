-- Push targets: where devices get their alerts. One target a device. A token belongs to the device that registered it
-- last.

-- Registers the device's target in place of the one before. A device gets alerts about events after its first
-- registration; a new token changes nothing about that.
-- Fails: PY401 invalid_token (the session has ended meanwhile); PY403 not_allowed (a bot's).
-- Locks: the token, the session's row (key share), the targets by session
create or replace function push_target_put(
    p_user uuid, p_session uuid, p_platform text, p_token text, p_environment text, p_topic text, p_p256dh bytea, p_auth bytea
) returns void
language plpgsql volatile as $$
declare
    v_digest bytea := sha256(convert_to(p_platform || ' ' || p_token, 'UTF8'));
begin
    perform lock_row('push tokens', hashtext(encode(v_digest, 'hex')) & 1023);
    perform from sessions s where s.id = p_session and s.user_id = p_user for key share;
    if not found then
        perform caller_refuse();
    elsif (select u.is_bot from users u where u.id = p_user) then
        perform refuse(403, 'not_allowed', 'A bot gets no alerts. Let it poll.');
    end if;
    perform from push_targets t where t.session_id = p_session or t.token_digest = v_digest
    order by t.session_id for update;
    perform push_target_forget(array(select t.session_id from push_targets t
        where t.token_digest = v_digest and t.session_id <> p_session));
    insert into push_targets (session_id, user_id, platform, token, token_digest, environment, topic, p256dh, auth,
        registered_at, decided_pos)
    values (p_session, p_user, p_platform, p_token, v_digest, p_environment, p_topic, p_p256dh, p_auth, stamp(), log_head())
    on conflict (session_id) do update set platform = excluded.platform, token = excluded.token,
        token_digest = excluded.token_digest, environment = excluded.environment, topic = excluded.topic,
        p256dh = excluded.p256dh, auth = excluded.auth, registered_at = excluded.registered_at;
    update push_jobs j set platform = p_platform where j.session_id = p_session and j.platform <> p_platform;
end $$;

-- Deletes the device's target, if there is one.
-- Locks: the target
create or replace function push_target_delete(p_session uuid) returns void
language sql volatile as $$
    select push_target_forget(array[p_session])
$$;

-- Deletes the targets of devices and their waiting jobs.
-- Locks: the targets by session
create or replace function push_target_forget(p_sessions uuid[]) returns void
language plpgsql volatile as $$
begin
    if cardinality(p_sessions) > 0 then
        perform from push_targets t where t.session_id = any (p_sessions) order by t.session_id for update;
        delete from push_jobs j where j.session_id = any (p_sessions);
        delete from push_targets t where t.session_id = any (p_sessions);
    end if;
end $$;
