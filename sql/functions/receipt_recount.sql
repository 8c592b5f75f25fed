-- Counts that a withdrawn message changes, and that nobody can tell from its tombstone.

-- Tells members their own counts anew (receipt.updated, to them alone) after the message.deleted of `p_message`, gone for
-- everyone: those whom it mentioned (`p_mentions`; the tombstone doesn't say), and those who had deleted it for themselves,
-- to whom it counted no more. Of all others' counts the tombstone tells enough: one less where it was unread. Nobody is
-- told to whom it was read. Call it with the log's lock held; gives the last position written.
-- Costs a scan of the thread's messages that members deleted for themselves alone, in the index; then who is told.
create or replace function receipt_recount(p_head bigint, p_now timestamptz, p_message messages, p_mentions uuid[])
returns bigint
language plpgsql volatile
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_members members[];
begin
    select array_agg(m) into v_members
    from (
        select n.id from unnest(p_mentions) n (id)
        union
        select h.user_id from message_hides h where h.thread_id = p_message.thread_id and h.seq = p_message.seq
    ) o
    join members m on m.thread_id = p_message.thread_id and m.user_id = o.id and m.status = 'joined'
    cross join lateral member_marks(m) r
    where p_message.seq > r.own_seq and p_message.seq >= m.hidden_before_seq
        and m.user_id is distinct from p_message.sender_id;
    if v_members is null then
        return p_head;
    end if;
    return receipt_log(p_head, p_now, v_members, array_fill(false, array[cardinality(v_members)]),
        array_fill(true, array[cardinality(v_members)]));
end $$;
