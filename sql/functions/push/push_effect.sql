-- What one event means to alerts.

-- Returns: no row if the event concerns no alert. Otherwise:
--   seq     of a new message; 0 when only an unread count may have changed
--   who     with `seq` > 0 the sender; otherwise the user whose count may have changed, null for all members
--   about   the seq of the message that the event withdraws for everyone
-- `p_user`, `p_seq`, `p_actor` and `p_is_silent` are the event's columns; `p_member` is the first of those whose
-- membership begins or ends. A silent message changes counts only. Inlined where it is in FROM. Callers write `offset 0`
-- after it, or each use of a column would compute it again.
create or replace function push_effect(
    p_type text, p_thread uuid, p_user uuid, p_member uuid, p_seq bigint, p_actor uuid, p_is_silent boolean
) returns table (seq bigint, who uuid, about bigint)
language sql stable as $$
    select case when p_type = 'message.created' and p_is_silent is not true then p_seq else 0 end,
        case p_type when 'message.created' then case when p_is_silent is not true then p_actor end
            when 'member.updated' then p_member
            else coalesce(p_user, case p_type when 'receipt.updated' then p_actor end) end,
        case when p_type = 'message.deleted' and p_user is null then p_seq end
    where p_thread is not null and case p_type
        -- The service's system messages have no sender, and get no alert.
        when 'message.created' then p_actor is not null or p_is_silent is not null
        when 'message.deleted' then true
        -- Muting, archiving, pinning and what alerts change no count; clearing the history does.
        when 'settings.updated' then p_seq > 0
        when 'member.updated' then p_member is not null
        -- A delivered mark changes no count.
        when 'receipt.updated' then p_user is not null or p_seq > 0
        else false end
$$;

-- Returns: the seq of the job for a member's device: the message's, 0 for an alert that only carries the count, null
-- for none. `p_is_answer`: somebody else sent the message before this one. `p_mentions`: those of the message.
create or replace function push_job_seq(
    p_now timestamptz, m members, p_seq bigint, p_who uuid, p_about bigint, p_is_answer boolean, p_mentions uuid[]
) returns bigint
language sql immutable as $$
    select case
        when m.status <> 'joined' then case when p_who = m.user_id then 0 end
        when p_seq = 0 then case when p_about > m.read_seq or m.back_to_seq is not null or p_about is null then 0 end
        when p_who = m.user_id then case when p_is_answer and m.read_seq < p_seq - 1 then 0 end
        when m.read_seq < p_seq and member_is_alerted(m, p_mentions, p_now) then p_seq end
$$;

-- Returns: whether a message of somebody else that mentions these people alerts the member; false or null if not.
create or replace function member_is_alerted(m members, p_mentions uuid[], p_now timestamptz) returns boolean
language sql immutable as $$
    select (m.muted_until is null or m.muted_until <= p_now)
        and (m.notify is null or (m.notify = 'mentions' and m.user_id = any (p_mentions)))
$$;
