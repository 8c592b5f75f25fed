-- Users as others see them.

-- Fails: PY404 user_not_found, unless the account exists and was not erased.
create or replace function user_require(p_user uuid) returns void
language plpgsql stable as $$
begin
    if not exists (select from users u where u.id = p_user and u.erased_at is null) then
        perform refuse_unknown('user');
    end if;
end $$;

-- Returns: a profile. It shows presence to the user, and to people who share a thread with the user and are not
-- blocked.
create or replace function user_get(p_user uuid, p_viewer uuid default null) returns text
language sql stable as $$
    select case when p_viewer = p_user or (users_share_thread(p_viewer, p_user) and not exists (
            select from blocks b where b.user_id = p_user and b.blocked_id = p_viewer)) then profile_json(u) else user_json(u) end::text
    from users u where u.id = p_user and u.erased_at is null
$$;

-- Returns: a page of the directory: users of whom a word of the name, or the username, begins with `p_prefix`
-- (case-folded by the caller). An exact word ranks before a longer one; within a rank the oldest account comes first.
-- With `p_is_shared` only people who have joined a thread with the viewer are found.
-- Presence is shown of users with whom the viewer has a direct thread, which costs an index probe a row; other shared
-- threads would cost a probe for each thread.
-- Costs: a look at each match; with `p_is_shared` also a probe for each thread of those before the page's end
create or replace function user_search(
    p_prefix text, p_viewer uuid, p_is_shared boolean, p_limit int, p_after_rank bigint, p_after_id uuid
) returns table (item text, rank bigint, id uuid)
language sql stable as $$
    select case when u.id = p_viewer or users_have_direct(p_viewer, u.id) then profile_json(u) else user_json(u) end::text,
        p.rank, u.id
    from (
        select f.user_id, f.rank
        from (
            select m.user_id, m.rank
            from (
                select w.user_id, min(case when w.word = p_prefix then 0 else 1 end)::bigint as rank
                from user_words w
                where w.word >= p_prefix collate "C" and w.word < (p_prefix || U&'\+10FFFF') collate "C"
                group by w.user_id
            ) m
            where p_after_rank is null or (m.rank, m.user_id) > (p_after_rank, p_after_id)
            order by m.rank, m.user_id
            -- Sorted first, so that nobody after the page is probed for a shared thread.
            limit case when not p_is_shared then p_limit end
        ) f
        where not p_is_shared or exists (
            select from members b where b.user_id = f.user_id and b.status = 'joined'
                -- A scalar look-up, so that the plan always begins with the other person's threads.
                and (select a.status from members a where a.user_id = p_viewer and a.thread_id = b.thread_id) = 'joined')
        order by f.rank, f.user_id
        limit p_limit
    ) p
    join users u on u.id = p.user_id
    order by p.rank, u.id
$$;

-- Returns: those of the users that exist, by the host app's ids.
-- Costs: an index probe for each
create or replace function user_by_external_id(p_external_ids text[]) returns table (external_id text, id uuid)
language sql stable as $$
    select u.external_id, u.id from unnest(p_external_ids) x (external_id)
    join users u on u.external_id = x.external_id where u.external_id is not null
$$;
