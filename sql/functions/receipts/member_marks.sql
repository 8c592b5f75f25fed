-- A member's marks.

-- Returns: how far a member has read: the receipt mark, or their own last message, because a sender has seen all
-- before it.
create or replace function member_read_seq(m members) returns bigint
language plpgsql stable as $$
begin
    return greatest(m.read_seq, (select o.seq from messages o
        where sender_key(o.sender_id, o.thread_id) = sender_key(m.user_id, m.thread_id) and o.seq::int > m.read_seq::int
            and sender_is(o, m.user_id, m.thread_id) order by o.seq::int desc limit 1));
end $$;

-- Returns: `read_seq`, how far a member has read as others see it, and `own_seq`, as the member sees it: less after
-- marking unread (unread_put). A table function, because that is inlined where it is in FROM.
create or replace function member_marks(m members) returns table (read_seq bigint, own_seq bigint)
language sql stable rows 1 as $$
    select r.seq, case when m.back_from_seq = r.seq then coalesce(m.back_to_seq, r.seq) else r.seq end
    -- `offset 0`: otherwise `seq`, which is used three times, is computed three times.
    from (select greatest(m.read_seq, (select o.seq from messages o
        where sender_key(o.sender_id, o.thread_id) = sender_key(m.user_id, m.thread_id) and o.seq::int > m.read_seq::int
            and sender_is(o, m.user_id, m.thread_id) order by o.seq::int desc limit 1)) as seq offset 0) r
$$;
