-- Strangers: people who share no direct thread and no group. The rules on adding people ask for them. A room makes nobody
-- known: anybody may join one, and so could address all who are there.

-- Returns: those of `p_others` who share no direct thread and no group with the user, at most `p_limit` of them (null:
-- all). Sharing means that both have joined it now, or that the other has joined their direct thread.
-- Costs: an index probe for each thread of each of the others, up to the first shared one, and one more for a shared room
create or replace function strangers(p_user uuid, p_others uuid[], p_limit int default null) returns uuid[]
language plpgsql stable as $$
begin
    return array(
        select o.id from unnest(p_others) o (id)
        where not exists (
                select from members b where b.user_id = o.id and b.status = 'joined'
                    -- A scalar look-up, so that the plan always begins with the other person's threads.
                    and (select a.status from members a where a.user_id = p_user and a.thread_id = b.thread_id) = 'joined'
                    and (select t.kind from threads t where t.id = b.thread_id) <> 'room')
            and not exists (
                select from threads t where t.direct_low = least(p_user, o.id) and t.direct_high = greatest(p_user, o.id)
                    and (select b.status from members b where b.thread_id = t.id and b.user_id = o.id) = 'joined')
        limit p_limit);
end $$;
