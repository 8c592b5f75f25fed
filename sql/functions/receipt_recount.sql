-- Counts that withdrawn messages change, and that nobody can tell from their tombstones.

-- Tells members their own counts anew (receipt.updated, to them alone) after the message.deleted of `p_messages`, as they
-- were before: those who were mentioned, which a tombstone doesn't say, and those who had deleted one for themselves, to
-- whom it counted no more. Of all others' counts the tombstones tell enough: one less for each that was unread. Nobody is
-- told to whom they were read. Call it with the log's lock held; gives the last position written.
-- Costs a scan, in the index, of what members of the thread have deleted for themselves alone; then who is told.
create or replace function receipt_recount(p_head bigint, p_now timestamptz, p_messages messages[]) returns bigint
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_members members[] := array(
        select distinct m
        from (
            select x.thread_id, x.seq, x.sender_id, n.id from unnest(p_messages) x cross join unnest(x.mentions) n (id)
            union all
            select x.thread_id, x.seq, x.sender_id, h.user_id from unnest(p_messages) x
            join message_hides h on h.thread_id = x.thread_id and h.seq = x.seq
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
