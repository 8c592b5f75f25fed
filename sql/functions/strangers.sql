-- Who is a stranger to whom, for the rules on adding people whom one shares no thread with.

-- Those of `p_others` with whom the user shares no thread, `p_limit` of them at most (null: all). Sharing means: both
-- have joined a thread now, or the other one has joined their direct thread.
-- Costs an index probe for each thread of each of the others, up to the first that is shared.
create or replace function strangers(p_user uuid, p_others uuid[], p_limit int default null) returns uuid[]
language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
begin
    return array(
        select o.id from unnest(p_others) o (id)
        where not exists (
                select from members b where b.user_id = o.id and b.status = 'joined'
                    -- A scalar look-up, so that the plan always begins with the other one's threads.
                    and (select a.status from members a where a.user_id = p_user and a.thread_id = b.thread_id) = 'joined')
            and not exists (
                select from threads t where t.direct_low = least(p_user, o.id) and t.direct_high = greatest(p_user, o.id)
                    and (select b.status from members b where b.thread_id = t.id and b.user_id = o.id) = 'joined')
        limit p_limit);
end $$;
