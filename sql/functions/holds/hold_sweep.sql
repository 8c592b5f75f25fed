-- Erasing what released holds kept. Runs on every node. Each call locks a hold and skips holds locked by others, so
-- nodes share the work and finish what a dead node started.

-- Looks at the next `p_limit` contents of a released hold, and deletes those that no other hold covers. Their files
-- follow with the sweep of attachments.
-- Returns: 1; 0 when there is nothing to do.
-- Locks: the holds (shared), the hold's row (skipped when locked), the attachments by id
-- Costs: an index probe when there is nothing to do
create or replace function hold_sweep(p_limit int) returns int
language plpgsql volatile
set enable_sort = off
as $$
declare
    v_hold holds;
    v_contents held_contents[];
begin
    perform hold_enter();
    select * into v_hold from holds h where h.released_at is not null and h.erased_at is null
    order by h.released_at limit 1 for update skip locked;
    if not found then
        return 0;
    elsif v_hold.thread_id is not null then
        v_contents := array(select c from held_contents c
            where c.thread_id = v_hold.thread_id and c.n > v_hold.walked order by c.n limit p_limit);
    else
        v_contents := array(select c from held_contents c
            where c.sender_id = v_hold.user_id and c.n > v_hold.walked order by c.n limit p_limit);
    end if;
    perform hold_erase(array(select x from unnest(v_contents) x where not hold_covers(x.thread_id, x.sender_id)));
    if cardinality(v_contents) < p_limit then
        delete from held_users u where u.user_id = any (array(select x.user_id from held_users x))
            and not hold_covers_account(u.user_id);
        update holds h set erased_at = stamp() where h.id = v_hold.id;
    else
        update holds h set walked = v_contents[p_limit].n where h.id = v_hold.id;
    end if;
    return 1;
end $$;

-- Deletes held contents, and the attachments that nothing else uses. Messages that are still there keep theirs.
-- Locks: the attachments by id
create or replace function hold_erase(p_contents held_contents[]) returns void
language plpgsql volatile as $$
declare
    v_ids uuid[];
begin
    delete from held_contents c where c.n = any (array(select x.n from unnest(p_contents) x));
    with gone as (
        delete from attachment_uses u using unnest(p_contents) x
        where u.holder_id = x.thread_id and u.seq = x.seq and u.kind = 'held'
        returning u.attachment_id
    )
    select array_agg(distinct g.attachment_id) into v_ids from gone g;
    if v_ids is not null then
        perform attachment_settle(v_ids);
    end if;
end $$;
