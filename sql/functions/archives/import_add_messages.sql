-- Adding the messages of new threads, and what belongs to messages.

-- Adds messages with their places: by `seq`, or by time and line. Their times never decrease, and are not in the future.
-- Content that has expired already is not stored: these messages are tombstones from the beginning.
-- Costs: most of the time of import_apply
create or replace function import_add_messages(p_import uuid, p_now timestamptz, p_retention_max_s int) returns void
language plpgsql volatile as $$
declare
    v_old timestamptz := case when p_retention_max_s > 0 then p_now - make_interval(secs => p_retention_max_s) end;
begin
    create temporary table import_heads on commit drop as
    select m.thread_id, count(*) as head, coalesce(min(m.seq) = 1 and max(m.seq) = count(*), true) as is_dense
    from import_messages m join import_fates f on f.id = m.thread_id and f.fate = 'new'
    where m.import_id = p_import group by m.thread_id;
    create unique index on import_heads (thread_id);
    analyze import_heads;

    insert into messages (thread_id, seq, id, sender_id, type, payload, reply_to, mentions, created_at, edited_at,
        deleted_at, expires_at, pos, reacted)
    select o.thread_id, o.place, o.id, o.sender_id, o.type,
        case when g.at is not null or o.payload is null then null
            when o.attachments is null then o.payload else attachment_embed(o.payload, o.attachments) end,
        case when l.line is null then o.reply_to end, case when g.at is null then coalesce(o.mentions, '{}') else '{}' end,
        o.at, o.edited_at, g.at, o.expires_at, 0, case when r.message_id is not null and g.at is null then true end
    from (
        select m.*, row_number() over place as place,
            max(least(m.created_at, p_now)) over (place rows unbounded preceding) as at
        from import_messages m join import_heads h on h.thread_id = m.thread_id
        where m.import_id = p_import
        window place as (partition by m.thread_id order by m.seq, m.created_at, m.line)
    ) o
    cross join lateral (select coalesce(o.deleted_at, case when o.expires_at <= p_now then greatest(o.expires_at, o.at)
        when o.type <> 'system' and o.at <= v_old then p_now end) as at offset 0) g
    left join import_lost_replies l on l.line = o.line
    left join (select distinct r.thread_id, r.message_id from import_reactions r where r.import_id = p_import) r
        on r.thread_id = o.thread_id and r.message_id = o.id
    order by o.thread_id, o.place;

    insert into message_expiries (thread_id, seq, expires_at)
    select m.thread_id, m.seq, m.expires_at
    from import_messages x join import_heads h on h.thread_id = x.thread_id
    cross join lateral message_find(x.thread_id, x.id) m
    where x.import_id = p_import and x.expires_at is not null and m.deleted_at is null;
    if v_old is not null then
        insert into retention_walks (thread_id, seq)
        select h.thread_id, w.seq from import_heads h
        cross join lateral (select m.seq from messages m where m.thread_id = h.thread_id and m.created_at <= v_old
            order by m.seq desc limit 1) w;
    end if;
    insert into search_backlog (thread_id, upto_seq) select h.thread_id, h.head from import_heads h;
end $$;


-- Adds versions, reactions with their counts, and hidden messages.
-- Costs: an index probe for each, to find the message
create or replace function import_add_parts(p_import uuid) returns void
language plpgsql volatile as $$
begin
    insert into message_edits (thread_id, seq, version, payload, replaced_at, pos)
    select m.thread_id, m.seq, v.version,
        case when v.attachments is null then v.payload else attachment_embed(v.payload, v.attachments) end, v.replaced_at, 0
    from import_versions v join import_heads h on h.thread_id = v.thread_id
    cross join lateral message_find(v.thread_id, v.message_id) m
    where v.import_id = p_import and m.deleted_at is null;

    insert into message_reactions (thread_id, seq, user_id, emoji, created_at)
    select m.thread_id, m.seq, r.user_id, r.emoji, r.created_at
    from import_reactions r join import_heads h on h.thread_id = r.thread_id
    cross join lateral message_find(r.thread_id, r.message_id) m
    where r.import_id = p_import and m.deleted_at is null
    order by m.thread_id, m.seq;
    insert into message_reaction_counts (thread_id, seq, emoji, count, created_at)
    select r.thread_id, r.seq, r.emoji, count(*), min(r.created_at)
    from import_heads h join message_reactions r on r.thread_id = h.thread_id
    group by r.thread_id, r.seq, r.emoji;

    insert into message_hides (thread_id, user_id, seq)
    select m.thread_id, x.user_id, m.seq
    from import_hides x join import_heads h on h.thread_id = x.thread_id
    cross join lateral message_find(x.thread_id, x.message_id) m
    where x.import_id = p_import;
end $$;
