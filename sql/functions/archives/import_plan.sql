-- Deciding what of a checked archive is new, what exists and what is left out. The decisions are in temporary tables,
-- which end with the transaction: import_fates (threads), import_new_users, import_left_out, import_counts.

-- Decides about all staged lines.
-- Costs: scans and hash joins of all staged lines
create or replace function import_plan(p_import uuid, p_retention_max_s int) returns void
language plpgsql volatile as $$
begin
    create temporary table import_left_out (line bigint, type text, reason text) on commit drop;
    create temporary table import_counts (type text, added bigint, existing bigint) on commit drop;
    perform import_plan_users(p_import);
    perform import_plan_threads(p_import, p_retention_max_s);
    perform import_plan_members(p_import);
    perform import_plan_messages(p_import);
    perform import_plan_parts(p_import);
    perform import_plan_files(p_import);
end $$;

-- Returns: the report as JSON text, with the first thousand lines that are left out.
create or replace function import_report(p_is_applied boolean, p_is_dry_run boolean, p_is_complete boolean) returns text
language plpgsql volatile as $$
begin
    return json_build_object('applied', p_is_applied, 'dry_run', p_is_dry_run, 'complete', p_is_complete,
        'added', (select json_object_agg(c.type, c.added order by c.type) from import_counts c),
        'existing', (select json_object_agg(c.type, c.existing order by c.type) from import_counts c),
        'left_out_count', (select count(*) from import_left_out),
        'left_out', (select coalesce(json_agg(json_build_object('line', l.line, 'type', l.type, 'reason', l.reason)
            order by l.line, l.reason), '[]')
            from (select * from import_left_out x order by x.line, x.reason limit 1000) l))::text;
end $$;

-- Decides about accounts and blocks. A username, e-mail address or external id that another account has is left out:
-- the account is created without it. Blocks are added to new accounts only.
create or replace function import_plan_users(p_import uuid) returns void
language plpgsql volatile as $$
begin
    create temporary table import_new_users on commit drop as
    select n.*,
        n.username_place = 1 and not exists (select from users e where e.username_key = n.username_key) as keeps_username,
        n.email_place = 1 and not exists (select from users e where e.email_key = n.email_key) as keeps_email,
        n.external_place = 1 and not exists (select from users e where e.external_id = n.external_id) as keeps_external,
        import_is_picture(p_import, n.profile_image) as keeps_image
    from (
        select u.*, row_number() over (partition by u.username_key order by u.line) as username_place,
            row_number() over (partition by u.email_key order by u.line) as email_place,
            row_number() over (partition by u.external_id order by u.line) as external_place
        from import_users u
        where u.import_id = p_import and not exists (select from users e where e.id = u.id)) n;
    create unique index on import_new_users (id);
    analyze import_new_users;

    insert into import_left_out
    select n.line, 'user', format('The username "%s" is taken. The account has no username.', n.username)
    from import_new_users n where n.username_key is not null and not n.keeps_username
    union all
    select n.line, 'user', format('The e-mail address "%s" is taken. The account has no address.', n.email)
    from import_new_users n where n.email_key is not null and not n.keeps_email
    union all
    select n.line, 'user', format('The external id "%s" is taken. The account has no external id.', n.external_id)
    from import_new_users n where n.external_id is not null and not n.keeps_external
    union all
    select n.line, 'user', 'The profile image is not an attachment of the archive that is a picture.'
    from import_new_users n where not n.keeps_image
    union all
    select b.line, 'block', 'The account existed before. Its blocks stay as they are.'
    from import_blocks b
    where b.import_id = p_import and not exists (select from import_new_users n where n.id = b.user_id)
        and not exists (select from blocks e where e.user_id = b.user_id and e.blocked_id = b.blocked_id);

    insert into import_counts
    select 'users', (select count(*) from import_new_users), count(*) - (select count(*) from import_new_users)
    from import_users u where u.import_id = p_import
    union all
    select 'blocks', count(*) filter (where n.id is not null),
        count(*) filter (where n.id is null and e.user_id is not null)
    from import_blocks b
    left join import_new_users n on n.id = b.user_id
    left join blocks e on e.user_id = b.user_id and e.blocked_id = b.blocked_id
    where b.import_id = p_import;
end $$;

-- Returns: whether a picture can be kept: a URL, or an attachment of the archive that is a picture.
create or replace function import_is_picture(p_import uuid, p_image text) returns boolean
language plpgsql stable as $$
declare
    v_id uuid;
begin
    if p_image is null or p_image not like 'attachment:%' then
        return true;
    end if;
    v_id := substr(p_image, 12)::uuid;
    if exists (select from attachments a where a.id = v_id) then
        return (select a.media_type from attachments a where a.id = v_id) like 'image/%'
            and import_has_bytes(p_import, v_id);
    end if;
    return exists (select from import_attachments a
        where a.import_id = p_import and a.id = v_id and a.media_type like 'image/%');
end $$;

-- Decides about threads: `new`, `existing`, or `refused`, because the two people of a direct thread have another one
-- here. A retention that is longer than the service's is shortened.
create or replace function import_plan_threads(p_import uuid, p_retention_max_s int) returns void
language plpgsql volatile as $$
begin
    create temporary table import_fates on commit drop as
    select t.id, t.line, t.kind, t.external_id, import_is_picture(p_import, t.image) as keeps_image, d.id as other_id,
        row_number() over (partition by t.external_id order by t.line) = 1
            and not exists (select from threads x where x.external_id = t.external_id) as keeps_external,
        case when e.id is not null then 'existing' when d.id is not null then 'refused' else 'new' end as fate
    from import_threads t
    left join threads e on e.id = t.id
    left join threads d on d.direct_low = t.direct_low and d.direct_high = t.direct_high and d.id <> t.id
    where t.import_id = p_import;
    create unique index on import_fates (id);
    analyze import_fates;

    insert into import_left_out
    select f.line, 'thread', format('The two users have the direct thread %s already.', f.other_id)
    from import_fates f where f.fate = 'refused'
    union all
    select f.line, 'thread', format('The external id "%s" is taken. The thread has no external id.', f.external_id)
    from import_fates f where f.fate = 'new' and f.external_id is not null and not f.keeps_external
    union all
    select f.line, 'thread', 'The image is not an attachment of the archive that is a picture.'
    from import_fates f where f.fate = 'new' and not f.keeps_image
    union all
    select t.line, 'thread',
        format('The retention is longer than the %s s of this service, and was shortened.', p_retention_max_s)
    from import_fates f join import_threads t on t.import_id = p_import and t.id = f.id
    where f.fate = 'new' and p_retention_max_s > 0 and coalesce(t.keep_s, p_retention_max_s + 1) > p_retention_max_s;

    insert into import_counts
    select 'threads', count(*) filter (where f.fate = 'new'), count(*) filter (where f.fate = 'existing')
    from import_fates f;
end $$;

-- Decides about members and receipts.
create or replace function import_plan_members(p_import uuid) returns void
language plpgsql volatile as $$
begin
    insert into import_left_out
    select m.line, 'member', import_thread_reason(f.fate)
    from import_members m left join import_fates f on f.id = m.thread_id
    where m.import_id = p_import and f.fate is distinct from 'new'
        and not exists (select from members e where e.thread_id = m.thread_id and e.user_id = m.user_id);
    insert into import_left_out
    select r.line, 'receipt', import_thread_reason(f.fate)
    from import_receipts r left join import_fates f on f.id = r.thread_id
    where r.import_id = p_import and f.fate = 'refused';

    insert into import_counts
    select 'members', count(*) filter (where f.fate = 'new'), count(*) filter (where e.user_id is not null)
    from import_members m left join import_fates f on f.id = m.thread_id
    left join members e on e.thread_id = m.thread_id and e.user_id = m.user_id
    where m.import_id = p_import
    union all
    select 'receipts', count(*) filter (where f.fate = 'new'),
        count(*) filter (where f.fate is distinct from 'new' and f.fate is distinct from 'refused')
    from import_receipts r left join import_fates f on f.id = r.thread_id
    where r.import_id = p_import;
end $$;

-- Returns: why a line of a thread that is not new is left out. Threads that the archive names but does not hold exist.
create or replace function import_thread_reason(p_fate text) returns text
language sql immutable as $$
    select case p_fate when 'refused' then 'Its thread is left out.'
        else 'Its thread existed before, and nothing is added to it.' end
$$;

-- Decides about messages, and about replies to messages that the archive does not have.
create or replace function import_plan_messages(p_import uuid) returns void
language plpgsql volatile as $$
begin
    create temporary table import_lost_replies on commit drop as
    select m.line from import_messages m join import_fates f on f.id = m.thread_id and f.fate = 'new'
    where m.import_id = p_import and m.reply_to is not null and not exists (
        select from import_messages x where x.import_id = p_import and x.thread_id = m.thread_id and x.id = m.reply_to);
    insert into import_left_out
    select l.line, 'message', 'The archive does not have the message that this one replies to. It is no reply now.'
    from import_lost_replies l;
    insert into import_left_out
    select m.line, 'message', import_thread_reason(f.fate)
    from import_messages m left join import_fates f on f.id = m.thread_id
    where m.import_id = p_import and f.fate is distinct from 'new'
        and (message_find(m.thread_id, m.id)).seq is null;

    insert into import_counts
    select 'messages', count(*) filter (where f.fate = 'new'),
        count(*) filter (where f.fate is distinct from 'new'
            and (message_find(m.thread_id, m.id)).seq is not null)
    from import_messages m left join import_fates f on f.id = m.thread_id
    where m.import_id = p_import;
end $$;

-- Decides about versions, reactions and hidden messages. Those of threads that exist are looked up by their message.
create or replace function import_plan_parts(p_import uuid) returns void
language plpgsql volatile as $$
begin
    create temporary table import_part_fates on commit drop as
    with parts as (
        select 'message_version' as type, v.line, v.thread_id, v.message_id, v.version, null::uuid as user_id, null as emoji
        from import_versions v where v.import_id = p_import
        union all
        select 'reaction', r.line, r.thread_id, r.message_id, null, r.user_id, r.emoji
        from import_reactions r where r.import_id = p_import
        union all
        select 'hidden_message', h.line, h.thread_id, h.message_id, null, h.user_id, null
        from import_hides h where h.import_id = p_import
    )
    select p.type, p.line, f.fate, f.fate = 'new' as is_new,
        f.fate is distinct from 'new' and import_part_exists(p.type, p.thread_id, p.message_id, p.version, p.user_id,
            p.emoji) as is_existing,
        -- A tombstone has neither versions nor reactions.
        f.fate = 'new' and p.type <> 'hidden_message' and x.deleted_at is not null as is_of_deleted
    from parts p
    left join import_fates f on f.id = p.thread_id
    left join import_messages x on x.import_id = p_import and x.thread_id = p.thread_id and x.id = p.message_id
        and x.deleted_at is not null;

    insert into import_left_out
    select p.line, p.type, case when p.is_of_deleted then 'Its message is deleted.' else import_thread_reason(p.fate) end
    from import_part_fates p where p.is_of_deleted or not coalesce(p.is_new, false) and not p.is_existing;

    insert into import_counts
    select k.types, count(p.line) filter (where p.is_new and not p.is_of_deleted),
        count(p.line) filter (where p.is_existing)
    from (values ('message_version', 'message_versions'), ('reaction', 'reactions'), ('hidden_message', 'hidden_messages'))
        k (type, types)
    left join import_part_fates p on p.type = k.type
    group by k.types;
end $$;

-- Returns: whether an earlier version, a reaction or a hidden message is stored.
-- Costs: two index probes
create or replace function import_part_exists(
    p_type text, p_thread uuid, p_message uuid, p_version int, p_user uuid, p_emoji text) returns boolean
language plpgsql stable as $$
declare
    v_seq bigint := (message_find(p_thread, p_message)).seq;
begin
    return case p_type
        when 'message_version' then exists (select from message_edits e
            where e.thread_id = p_thread and e.seq = v_seq and e.version = p_version)
        when 'reaction' then exists (select from message_reactions r
            where r.thread_id = p_thread and r.seq = v_seq and r.user_id = p_user and r.emoji = p_emoji)
        else message_is_hidden(p_thread, p_user, v_seq) end;
end $$;

-- Decides about attachments, each together with its bytes.
create or replace function import_plan_files(p_import uuid) returns void
language plpgsql volatile as $$
begin
    insert into import_counts
    select 'attachments', count(*) filter (where e.id is null), count(e.id)
    from import_attachments a left join attachments e on e.id = a.id
    where a.import_id = p_import;
end $$;
