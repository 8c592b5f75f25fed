--

-- Returns: a page of a thread's members: owners first, then admins, then members, each by id. Owners and admins also
-- see, among the members, people who left or were removed.
-- Fails: PY404 thread_not_found, PY403 not_joined.
-- Costs: the same for every page and any number of members: three range scans, most of which find their place at once
create or replace function member_list(p_user uuid, p_thread uuid, p_limit int, p_after_rank bigint, p_after_id uuid)
returns table (item text, rank bigint, id uuid)
language plpgsql stable
set enable_bitmapscan = off
as $$
declare
    v_caller members := member_joined(p_thread, p_user);
    v_sees_gone boolean := v_caller.role in ('owner', 'admin');
    -- The key may be of another list, and below any rank of this one.
    v_rank bigint := greatest(p_after_rank, 0);
    -- This id is before any other.
    v_after uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
    v_left int := p_limit;
    v_count int;
begin
    while v_rank <= 2 and v_left > 0 loop
        if v_rank = 2 and v_sees_gone then
            return query
            select member_view(m, true)::text, v_rank, m.user_id
            from members m
            where m.thread_id = p_thread and m.user_id > v_after and m.role = 'member'
            order by m.user_id limit v_left;
        else
            return query
            select member_view(m, true)::text, v_rank, m.user_id
            from members m
            where m.thread_id = p_thread and m.user_id > v_after and m.status in ('joined', 'invited')
                and m.role = case v_rank when 0 then 'owner' when 1 then 'admin' else 'member' end
            order by m.user_id limit v_left;
        end if;
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        v_rank := v_rank + 1;
        v_after := '00000000-0000-0000-0000-000000000000';
    end loop;
end $$;
