-- The number of threads that each account has joined or is invited to, kept for the bound on it. A count is a row of
-- its own and is locked while it changes: so two simultaneous joins cannot exceed the bound together, and no join
-- counts 5,000 rows.

-- Returns: the number by the members' rows.
create or replace function thread_count_of(p_user uuid) returns int
language plpgsql stable as $$
begin
    return (select count(*) from members m where m.user_id = p_user and m.status in ('joined', 'invited'));
end $$;

-- Counts one more thread for each of `p_users`, whose rows in `members` are about to become joined or invited and were
-- neither. At each hundredth thread, and before it refuses, it counts the members' rows instead: so it finds what an
-- older node did not count during an upgrade. `p_max` null: no bound.
-- Fails: PY422 too_many_threads. For several people it does not say which, because the caller may know none of them.
-- Locks: the users' counts, in order (after threads and members, before the log)
create or replace function thread_count_add(p_actor uuid, p_users uuid[], p_max int) returns void
language plpgsql volatile as $$
declare
    v_full uuid;
begin
    insert into thread_counts (user_id, count)
    select n.id, thread_count_of(n.id)
    from (select u.id from unnest(p_users) u (id)
        where not exists (select from thread_counts c where c.user_id = u.id) order by u.id) n
    on conflict do nothing;
    perform from thread_counts c where c.user_id = any (p_users) order by c.user_id for no key update;
    update thread_counts c set count = c.count + 1 where c.user_id = any (p_users);
    update thread_counts c set count = thread_count_of(c.user_id) + 1
    where c.user_id = any (p_users) and (c.count > p_max or c.count % 100 = 0);
    select c.user_id into v_full from thread_counts c where c.user_id = any (p_users) and c.count > p_max
    order by c.user_id <> p_actor limit 1;
    if v_full = p_actor then
        perform refuse(422, 'too_many_threads',
            format('An account may have at most %s threads. Leave one first.', p_max));
    elsif v_full is not null then
        perform refuse(422, 'too_many_threads',
            'One of these members has reached the limit of threads. Leave that member out.');
    end if;
end $$;

-- Counts one thread less: the user was joined or invited and is neither now.
-- Locks: the user's count
create or replace function thread_count_drop(p_user uuid) returns void
language sql volatile as $$
    update thread_counts c set count = greatest(c.count - 1, 0) where c.user_id = p_user
$$;
