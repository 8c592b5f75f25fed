-- Making a checked archive visible, all at once. Messages of an archive are in no event of the log: their `pos` is 0,
-- which is before all positions. Each new thread's members get thread.created, as if they joined it.

-- Applies an import and drops it, in one transaction. With `p_is_dry_run` nothing is added. Call import_check first, and
-- let no statement_timeout end this one.
--   p_retention_max_s   the longest retention of the service, 0 for any
--   p_unused_s          for how long attachments that nothing uses are kept
-- Returns: the report as JSON text.
-- Fails: PY409 import_ended; 40001 (something of the archive was created meanwhile: call again).
-- Locks: imports (one is applied at a time), the import, what it adds, existing attachments by id, the pairs
-- of direct threads, the members' counts; last, for as long as it takes to add the members' events, the log
-- Costs: 28 µs a message, with import_check
create or replace function import_apply(
    p_import uuid, p_is_dry_run boolean, p_actor text, p_request text, p_admin_key uuid, p_retention_max_s int, p_unused_s int,
    p_now timestamptz default null) returns text
language plpgsql volatile
set work_mem = '64MB' set enable_hashjoin = on set enable_mergejoin = on
as $$
declare
    v_now timestamptz := coalesce(p_now, stamp());
    v_import imports;
    v_report text;
begin
    perform lock_row('imports');
    v_import := import_lock(p_import);
    perform import_analyze();
    perform import_plan(p_import, p_retention_max_s);
    v_report := import_report(not p_is_dry_run, p_is_dry_run, v_import.is_complete);
    if p_is_dry_run then
        perform import_drop(p_import);
        return v_report;
    end if;
    begin
        perform import_add_people(p_import, v_now);
        perform import_add_files(p_import, v_now, p_unused_s);
        perform import_add_threads(p_import, p_retention_max_s);
        perform import_add_messages(p_import, v_now, p_retention_max_s);
        perform import_add_parts(p_import);
        perform import_add_members(p_import);
        perform import_add_uses(p_import);
    exception when unique_violation then
        raise exception using errcode = '40001', message = 'something of this archive was created meanwhile';
    end;
    perform import_note(p_actor, p_request, p_admin_key);
    perform import_drop(p_import);
    perform import_publish(v_now);
    return v_report;
end $$;

-- Records an import that added something in the audit log.
create or replace function import_note(p_actor text, p_request text, p_admin_key uuid) returns void
language plpgsql volatile as $$
declare
    v_added text := (select string_agg(c.added || ' ' || replace(c.type, '_', ' '), ', ' order by c.type)
        from import_counts c where c.added > 0);
begin
    if v_added is not null then
        perform audit_note(p_actor, p_request, p_admin_key, 'import', null, null, null, v_added);
    end if;
end $$;

-- Adds accounts with their words for the directory, and their blocks.
create or replace function import_add_people(p_import uuid, p_now timestamptz) returns void
language plpgsql volatile as $$
begin
    insert into users (id, username, username_key, name, profile_image, status_text, preferences, created_at, email,
        email_key, external_id, custom, is_bot, suspended_at, erased_at)
    select n.id, case when n.keeps_username then n.username end, case when n.keeps_username then n.username_key end, n.name,
        case when n.keeps_image then n.profile_image end, n.status_text, n.preferences, least(n.created_at, p_now),
        case when n.keeps_email then n.email end, case when n.keeps_email then n.email_key end,
        case when n.keeps_external then n.external_id end, n.custom, n.is_bot, case when n.is_suspended then p_now end,
        case when n.is_erased then p_now end
    from import_new_users n order by n.id;
    insert into user_words (word, user_id)
    select distinct w.word, n.id
    from import_new_users n
    cross join lateral unnest(n.words || case when n.keeps_username then array[n.username_key] end) w (word)
    where not n.is_erased and w.word is not null;
    insert into blocks (user_id, blocked_id, created_at)
    select b.user_id, b.blocked_id, least(b.created_at, p_now)
    from import_blocks b join import_new_users n on n.id = b.user_id where b.import_id = p_import;
end $$;

-- Adds threads, without members.
create or replace function import_add_threads(p_import uuid, p_retention_max_s int) returns void
language plpgsql volatile as $$
begin
    insert into threads (id, kind, title, topic, image, room_key, external_id, custom, labels, keep_s, created_at, direct_low,
        direct_high)
    select t.id, t.kind, t.title, t.topic, case when f.keeps_image then t.image end, t.room_key,
        case when f.keeps_external then t.external_id end, t.custom, t.labels,
        case when p_retention_max_s > 0 then least(t.keep_s, p_retention_max_s) else t.keep_s end,
        least(t.created_at, stamp()), t.direct_low, t.direct_high
    from import_threads t join import_fates f on f.id = t.id and f.fate = 'new'
    where t.import_id = p_import order by t.id;
end $$;
