-- Sends members their own counts again (receipt.updated, to them alone) after the message.deleted of `p_messages`,
-- which are given as they were before: members who were mentioned, which a tombstone does not say, and members who had
-- deleted one for themselves, for whom it no longer counted; and all members after a message of the host app's server,
-- whose tombstone does not say that it counted. All other members can count by the tombstone: one less
-- for each that was unread. Members who had read the messages get no event.
-- Returns: the last position written.
-- Locks: the caller holds the log
-- Costs: an index scan of what members of the thread have deleted for themselves; then the members who get an event
create or replace function receipt_recount(p_head bigint, p_now timestamptz, p_messages messages[]) returns bigint
language plpgsql volatile as $$
declare
    v_members members[] := array(
        select distinct m
        from (
            select x.thread_id, x.seq, x.sender_id, n.id from unnest(p_messages) x cross join unnest(x.mentions) n (id)
            union all
            select x.thread_id, x.seq, x.sender_id, h.user_id from unnest(p_messages) x
            join message_hides h on h.thread_id = x.thread_id and h.seq = x.seq
            union all
            select x.thread_id, x.seq, x.sender_id, j.user_id from unnest(p_messages) x
            join members j on j.thread_id = x.thread_id and j.status = 'joined' where x.sender_id is null and x.counts
        ) o
        join members m on m.thread_id = o.thread_id and m.user_id = o.id and m.status = 'joined'
        cross join lateral member_marks(m) r
        where o.seq > greatest(r.own_seq, m.hidden_before_seq - 1) and o.id is distinct from o.sender_id);
begin
    if v_members = '{}' then
        return p_head;
    end if;
    return receipt_log(p_head, p_now, v_members, array_fill(false, array[cardinality(v_members)]),
        array_fill(true, array[cardinality(v_members)]));
end $$;
