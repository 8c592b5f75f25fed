-- Deleting attachments. A deleted one is gone for everyone when its transaction commits. Its bytes follow: any node
-- erases them, a part a call.

-- Deletes attachments that nothing uses any more.
-- Locks: the attachments by id
create or replace function attachment_bury(p_ids uuid[]) returns void
language plpgsql volatile as $$
begin
    perform from attachments a where a.id = any (p_ids) order by a.id for no key update;
    update attachments a set state = 4, due_at = stamp(), stored_bytes = 0 where a.id = any (p_ids) and a.state <> 4;
end $$;

-- Gives up an upload, or an attachment that nothing uses.
-- Fails: PY404 attachment_not_found; PY409 attachment_in_use.
-- Locks: the attachment
create or replace function attachment_delete(p_id uuid, p_owner uuid) returns void
language plpgsql volatile as $$
declare
    v_attachment attachments := attachment_own(p_id, p_owner);
begin
    if v_attachment.id is null then
        perform attachment_refuse();
    elsif v_attachment.due_at is null then
        -- To a caller who does not see it any more it does not exist.
        if not attachment_is_seen(v_attachment, p_owner) then
            perform attachment_refuse();
        end if;
        perform refuse(409, 'attachment_in_use',
            'A message, a profile or a thread uses this attachment. Delete or change that first.');
    end if;
    perform attachment_bury(array[p_id]);
end $$;

-- Deletes the row of an attachment with all its bytes. Keys of the object store go to the list of garbage.
-- Locks: the caller holds the attachment
create or replace function attachment_erase(a attachments) returns void
language plpgsql volatile as $$
begin
    delete from attachment_chunks c where c.attachment_id = a.id;
    delete from attachment_receipts r where r.attachment_id = a.id;
    -- A key that is there already is being written: it is due when the writer's lease has ended.
    insert into attachment_garbage (key, next_at)
    select k.key, stamp() from attachment_keys(a.id) k
    where case k.variant when 0 then a.is_moved else a.thumbnail_is_moved end
    on conflict (key) do nothing;
    delete from attachments x where x.id = a.id;
end $$;

-- Deletes what is due: attachments that nothing uses any more, unused ones, and unfinished uploads that have received
-- nothing for as long. Looks at `p_limit` of them at most, and deletes 64 chunks (16 MiB) at most.
-- Returns: how many it looked at.
-- Locks: the attachments (skips locked ones)
-- Costs: an index probe when nothing is due
create or replace function attachment_sweep(p_limit int) returns int
language plpgsql volatile
set enable_sort = off
as $$
declare
    v_now timestamptz := stamp();
    v_left int := 64;
    v_looked int := 0;
    v_count int;
    v_attachment attachments;
begin
    for v_attachment in
        select * from attachments a where a.due_at <= v_now and a.due_at < 'infinity'
        order by a.due_at limit p_limit for update skip locked
    loop
        v_looked := v_looked + 1;
        if v_attachment.state = 0
            and v_attachment.received_at + make_interval(secs => v_attachment.unused_s) > v_now then
            -- Bytes have arrived since the time was set.
            update attachments a set due_at = a.received_at + make_interval(secs => a.unused_s)
            where a.id = v_attachment.id;
            continue;
        elsif v_attachment.state < 4 then
            perform attachment_bury(array[v_attachment.id]);
        end if;
        delete from attachment_chunks c where c.ctid = any (array(
            select x.ctid from attachment_chunks x where x.attachment_id = v_attachment.id limit v_left));
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        exit when v_left = 0;
        perform attachment_erase(v_attachment);
    end loop;
    return v_looked;
end $$;
