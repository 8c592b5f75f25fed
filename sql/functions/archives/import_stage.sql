-- Receiving the lines of an archive, some thousands in one call.

-- Stages a part of the archive. It begins at the byte `p_from`, where the part before ended, and has `p_bytes` bytes and
-- `p_lines` lines. Messages and bytes of attachments, which are most of an archive, come in arrays; `p_rest` has
-- arrays of all other lines, by their type. `p_is_complete`: the line `end` is in this part.
-- Fails: PY409 import_ended; PY409 import_superseded (another process has staged this part).
-- Locks: the import
-- Costs: an insert a line; lines of `p_rest` also the parsing of their JSON
create or replace function import_stage(
    p_import uuid, p_from bigint, p_bytes bigint, p_lines bigint, p_is_complete boolean,
    p_line bigint[], p_thread uuid[], p_seq bigint[], p_id uuid[], p_sender uuid[], p_type text[], p_payload json[],
    p_attachments text[], p_reply_to uuid[], p_mentions text[], p_created_at timestamptz[], p_edited_at timestamptz[],
    p_deleted_at timestamptz[], p_expires_at timestamptz[],
    p_chunk_line bigint[], p_chunk_of uuid[], p_chunk_variant smallint[], p_chunk_n int[], p_chunk_data bytea[],
    p_rest json
) returns void
language plpgsql volatile as $$
declare
    v_import imports := import_lock(p_import);
begin
    if v_import.bytes <> p_from then
        perform refuse(409, 'import_superseded', 'Another process imports the same file. Wait until it has ended.');
    end if;
    update imports i set bytes = i.bytes + p_bytes, lines = i.lines + p_lines, touched_at = stamp(),
        is_complete = i.is_complete or p_is_complete
    where i.id = p_import;
    insert into import_messages
    select p_import, g.line, g.thread_id, g.seq, g.id, g.sender_id, g.type, g.payload, g.attachments::uuid[], g.reply_to,
        g.mentions::uuid[], g.created_at, g.edited_at, g.deleted_at, g.expires_at
    from unnest(p_line, p_thread, p_seq, p_id, p_sender, p_type, p_payload, p_attachments, p_reply_to, p_mentions,
        p_created_at, p_edited_at, p_deleted_at, p_expires_at)
        g (line, thread_id, seq, id, sender_id, type, payload, attachments, reply_to, mentions, created_at, edited_at,
        deleted_at, expires_at);
    insert into import_chunks
    select p_import, g.line, g.id, g.variant, g.n, g.data
    from unnest(p_chunk_line, p_chunk_of, p_chunk_variant, p_chunk_n, p_chunk_data) g (line, id, variant, n, data);
    perform import_stage_rest(p_import, p_rest);
end $$;

-- Stages the lines that come as JSON: an object of arrays, whose entries have the columns' names.
create or replace function import_stage_rest(p_import uuid, p_rest json) returns void
language plpgsql volatile as $$
declare
    -- Fills the first column of each row.
    v_base json := json_build_object('import_id', p_import);
begin
    insert into import_users
    select * from json_populate_recordset(json_populate_record(null::import_users, v_base), p_rest -> 'users');
    insert into import_blocks
    select * from json_populate_recordset(json_populate_record(null::import_blocks, v_base), p_rest -> 'blocks');
    insert into import_threads
    select * from json_populate_recordset(json_populate_record(null::import_threads, v_base), p_rest -> 'threads');
    insert into import_members
    select * from json_populate_recordset(json_populate_record(null::import_members, v_base), p_rest -> 'members');
    insert into import_versions
    select * from json_populate_recordset(json_populate_record(null::import_versions, v_base), p_rest -> 'versions');
    insert into import_reactions
    select * from json_populate_recordset(json_populate_record(null::import_reactions, v_base), p_rest -> 'reactions');
    insert into import_receipts
    select * from json_populate_recordset(json_populate_record(null::import_receipts, v_base), p_rest -> 'receipts');
    insert into import_hides
    select * from json_populate_recordset(json_populate_record(null::import_hides, v_base), p_rest -> 'hides');
    insert into import_attachments
    select * from json_populate_recordset(json_populate_record(null::import_attachments, v_base), p_rest -> 'attachments');
end $$;
