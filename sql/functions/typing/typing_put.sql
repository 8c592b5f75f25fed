-- Typing: events that are published and not stored.

-- Returns: the `typing` event of a member; null where nobody gets it: in threads of more than 100 members, in a
-- direct thread when one of the two has blocked the other, and that of a bot.
-- Fails: PY404 thread_not_found, PY403 not_joined.
create or replace function typing_put(p_user uuid, p_thread uuid) returns text
language plpgsql stable as $$
declare
    v_member members := member_joined(p_thread, p_user);
begin
    return (select event_json('typing', t.id, stamp(), json_build_object('user_id', p_user)::text)
        from threads t where t.id = p_thread and t.member_count <= 100 and v_member.blocked is null and v_member.blocks is null
            and v_member.is_bot is null);
end $$;
