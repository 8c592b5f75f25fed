-- Adding the members of new threads, with their marks.

-- Adds members. In a direct thread both people are members, with or without lines of their own. A thread in which
-- people have joined has an owner: where the archive names none, the longest-standing admin, else member.
create or replace function import_add_members(p_import uuid) returns void
language plpgsql volatile as $$
begin
    perform import_number(p_import);
    create temporary table import_memberships on commit drop as
    select f.kind, t.created_at as made_at, x.line, x.thread_id, x.user_id, x.role, x.status, x.joined_at, x.invited_at,
        x.invited_by, x.read_seq, x.read_at, x.delivered_seq, x.delivered_at, x.muted_until, x.archived, x.pinned,
        x.hidden_before_seq, x.left_by_choice, x.notify, x.custom, x.labels
    from import_members x
    join import_fates f on f.id = x.thread_id and f.fate = 'new'
    join threads t on t.id = x.thread_id
    where x.import_id = p_import
    union all
    select 'direct', t.created_at, t.line, t.id, o.id, 'member', 'joined', null, null, null, null, null, null, null, null,
        false, false, 0, null, null, null, null
    from import_threads t
    join import_fates f on f.id = t.id and f.fate = 'new'
    cross join lateral (values (t.direct_low), (t.direct_high)) o (id)
    where t.import_id = p_import and t.kind = 'direct' and not exists (
        select from import_members x where x.import_id = p_import and x.thread_id = t.id and x.user_id = o.id);
    -- An erased account is in no thread.
    update import_memberships m set status = 'left' from users u
    where u.id = m.user_id and u.erased_at is not null and m.status in ('joined', 'invited');
    update import_memberships m set role = 'owner'
    from (select distinct on (x.thread_id) x.thread_id, x.user_id,
            bool_or(x.role = 'owner') over (partition by x.thread_id) as has_owner
        from import_memberships x where x.status = 'joined'
        order by x.thread_id, x.role, coalesce(x.joined_at, x.made_at), x.line, x.user_id) h
    where not h.has_owner and m.thread_id = h.thread_id and m.user_id = h.user_id;

    insert into receipt_marks (thread_id, user_id, kind, seq, at)
    select r.thread_id, r.user_id, r.kind, import_place(r.thread_id, r.seq), min(r.at)
    from import_receipts r join import_fates f on f.id = r.thread_id and f.fate = 'new'
    where r.import_id = p_import and import_place(r.thread_id, r.seq) > 0
    group by 1, 2, 3, 4;
    perform import_insert_members(p_import);
    insert into guest_threads (user_id, thread_id)
    select distinct m.sender_id, m.thread_id
    from import_messages m join import_fates f on f.id = m.thread_id and f.fate = 'new'
    where m.import_id = p_import and m.sender_id is not null and not exists (
        select from members x where x.thread_id = m.thread_id and x.user_id = m.sender_id)
    on conflict do nothing;
    update threads t set member_count = c.count
    from (select m.thread_id, count(*) as count from import_memberships m where m.status = 'joined'
        group by m.thread_id) c
    where t.id = c.thread_id;
    update threads t set has_archived = true
    from (select distinct m.thread_id from import_memberships m where m.archived and m.status = 'joined') a
    where t.id = a.thread_id;
end $$;

-- Notes the places of messages in threads whose seqs have gaps in the archive, for import_place.
create or replace function import_number(p_import uuid) returns void
language plpgsql volatile as $$
begin
    create temporary table import_places on commit drop as
    select m.thread_id, m.seq, row_number() over (partition by m.thread_id order by m.seq) as place
    from import_messages m join import_heads h on h.thread_id = m.thread_id and not h.is_dense
    where m.import_id = p_import;
    create unique index on import_places (thread_id, seq);
    analyze import_places;
end $$;

-- Returns: the place of the last message that had at most this seq in the archive, 0 for none; null for null.
create or replace function import_place(p_thread uuid, p_seq bigint) returns bigint
language plpgsql stable as $$
declare
    v_head bigint;
    v_is_dense boolean;
begin
    select h.head, h.is_dense into v_head, v_is_dense from import_heads h where h.thread_id = p_thread;
    if v_is_dense then
        return least(p_seq, v_head);
    end if;
    return case when p_seq is not null then coalesce((select x.place from import_places x
        where x.thread_id = p_thread and x.seq <= p_seq order by x.seq desc limit 1), 0) end;
end $$;

-- Writes the members' rows. A member without any mark has received and read everything.
create or replace function import_insert_members(p_import uuid) returns void
language plpgsql volatile as $$
begin
    insert into members (thread_id, user_id, role, status, joined_at, read_seq, read_at, delivered_seq, delivered_at,
        muted_until, archived, pinned, hidden_before_seq, invited_at, invited_by, hides, blocked, blocks, is_bot, left_by_choice,
        notify, custom, labels)
    select m.thread_id, m.user_id, m.role, m.status,
        case when m.status <> 'invited' then coalesce(m.joined_at, m.made_at) else m.joined_at end,
        k.read_seq, case when k.read_seq > 0 then coalesce(m.read_at, r.read_at) end,
        greatest(k.delivered_seq, k.read_seq), case when k.delivered_seq > 0 then coalesce(m.delivered_at, r.delivered_at) end,
        m.muted_until, m.archived, m.pinned, coalesce(import_place(m.thread_id, m.hidden_before_seq), 0),
        coalesce(m.invited_at, case when m.status = 'invited' then m.made_at end), m.invited_by,
        exists (select from import_hides h
            where h.import_id = p_import and h.thread_id = m.thread_id and h.user_id = m.user_id),
        b.blocked, b.blocks, u.is_bot, case when m.status <> 'joined' then m.left_by_choice end,
        m.notify, m.custom, m.labels
    from import_memberships m
    join users u on u.id = m.user_id
    left join (
        select x.thread_id, x.user_id, max(x.seq) filter (where x.kind = 'read') as read_seq,
            max(x.at) filter (where x.kind = 'read') as read_at,
            max(x.seq) filter (where x.kind = 'delivered') as delivered_seq,
            max(x.at) filter (where x.kind = 'delivered') as delivered_at
        from import_fates f join receipt_marks x on x.thread_id = f.id
        where f.fate = 'new' group by x.thread_id, x.user_id) r on r.thread_id = m.thread_id and r.user_id = m.user_id
    cross join lateral (
        select case when coalesce(m.read_seq, m.delivered_seq, r.read_seq, r.delivered_seq) is null
                then coalesce((select h.head from import_heads h where h.thread_id = m.thread_id), 0)
                else coalesce(greatest(import_place(m.thread_id, m.read_seq), r.read_seq), 0) end as read_seq,
            coalesce(greatest(import_place(m.thread_id, m.delivered_seq), r.delivered_seq), 0) as delivered_seq
    ) k
    left join lateral import_blocks_of(m.thread_id, m.user_id) b on m.kind = 'direct'
    order by m.thread_id, m.user_id;
end $$;

-- Returns: the marks of a member of a direct thread for the blocks between its two people, as block_mark sets them.
create or replace function import_blocks_of(p_thread uuid, p_user uuid) returns table (blocked boolean, blocks boolean)
language plpgsql stable as $$
begin
    return query
    select (select true from blocks b where b.user_id = o.id and b.blocked_id = p_user),
        (select true from blocks b where b.user_id = p_user and b.blocked_id = o.id)
    from threads t
    cross join lateral (select case t.direct_low when p_user then t.direct_high else t.direct_low end as id) o
    where t.id = p_thread;
end $$;
