-- The log's partitions: creating the next ones, and dropping the old ones.

-- Returns: the partitions with their bounds, `end_pos` excluded, including those being detached (`is_leaving`).
create or replace function log_partitions() returns table (name text, first_pos bigint, end_pos bigint, is_leaving boolean)
language sql stable as $$
    select c.relname, b.bounds[1]::bigint, b.bounds[2]::bigint, i.inhdetachpending
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    cross join lateral (select regexp_match(pg_get_expr(c.relpartbound, c.oid),
        $re$FROM \('?(\d+)'?\) TO \('?(\d+)'?\)$re$) as bounds) b
    where i.inhparent = 'events'::regclass
$$;

-- Returns: the first kept position at or after an instant, head + 1 when all are older. An event's time may differ from
-- the order of the log by some seconds, so the position may be wrong by as much.
-- Costs: some twenty index probes
create or replace function log_pos_at(p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_low bigint := coalesce((select max(t.end_pos) from log_trims t), 1);
    v_high bigint := log_head() + 1;
    v_middle bigint;
begin
    while v_low < v_high loop
        v_middle := (v_low + v_high) / 2;
        if (select e.at from events e where e.pos = v_middle) < p_at then
            v_low := v_middle + 1;
        else
            v_high := v_middle;
        end if;
    end loop;
    return v_high;
end $$;

-- Creates partitions until there is room for the events of one more partition. `p_now` is for tests. A partition holds
-- as many events as came in the last eighth of the retention time, but at least `p_rows_min`. So at a steady rate nine
-- partitions have events and one or two are ahead, and the log is kept at most an eighth longer than configured. Most
-- statements cost more with each partition. A quiet log stays small: 100,000 events are some 60 MB. A surge fills two
-- small partitions before the next are larger. Each is created as a separate table and then attached, which does not
-- block writers (CREATE … PARTITION OF would).
-- Returns: how many were created, and the position at which to call again.
-- Locks: log maintenance, `events` (share update exclusive)
create or replace function log_extend(p_days int, p_rows_min bigint default 100000, p_now timestamptz default null)
returns table (made int, next_pos bigint)
language plpgsql volatile as $$
declare
    v_head bigint;
    v_rows bigint;
    v_end bigint;
    v_floor bigint;
    v_name text;
begin
    perform lock_row('log maintenance');
    v_head := log_head();
    v_rows := greatest(p_rows_min,
        v_head + 1 - log_pos_at(coalesce(p_now, stamp()) - make_interval(hours => 3 * p_days)));
    select coalesce(max(p.end_pos), 1), max(p.first_pos) filter (where p.first_pos <= v_head)
    into v_end, v_floor
    from log_partitions() p;
    made := 0;
    while v_end - 1 - v_head < v_rows loop
        -- Where `events` is: a session's search path may begin with another schema.
        v_name := format('%s.events_%s', (select c.relnamespace::regnamespace::text from pg_class c
            where c.oid = 'events'::regclass), v_end);
        execute format('create table %s (like events including defaults)', v_name);
        -- The check spares ATTACH its scan.
        execute format('alter table %s add constraint bounds check (pos >= %s and pos < %s)', v_name, v_end, v_end + v_rows);
        execute format('alter table events attach partition %s for values from (%s) to (%s)', v_name, v_end, v_end + v_rows);
        execute format('alter table %s drop constraint bounds', v_name);
        v_end := v_end + v_rows;
        made := made + 1;
    end loop;
    next_pos := v_end - v_rows;
    update log_epochs l set floor_pos = v_floor where l.epoch = log_epoch() and l.floor_pos < v_floor;
    return next;
end $$;

-- Makes the caller's session the one that trims the log, unless another session does. A session that has ended, in any
-- way, no longer counts.
-- Returns: whether the caller trims.
-- Locks: log_trimmer
create or replace function log_trim_begin() returns boolean
language plpgsql volatile as $$
begin
    perform from log_trimmer t for update;
    if exists (select from log_trimmer t join pg_stat_activity a on a.pid = t.pid and a.backend_start = t.backend_start
        where t.pid <> pg_backend_pid()) then
        return false;
    end if;
    update log_trimmer t set pid = a.pid, backend_start = a.backend_start
    from pg_stat_activity a where a.pid = pg_backend_pid();
    return true;
end $$;

-- Leaves the trimming to the next session.
-- Locks: log_trimmer
create or replace function log_trim_end() returns void
language plpgsql volatile as $$
begin
    update log_trimmer t set pid = null, backend_start = null where t.pid = pg_backend_pid();
end $$;

-- Returns: the next step of trimming: a statement to run by itself outside of any transaction, and whether the
-- partition is gone after it. No row when nothing is left. Call it again after each step. A partition is trimmed when
-- its newest event is older than `p_days` and there are events after it (the log's head is the position of its last
-- event). The steps: detach the partition concurrently, which waits for transactions that use the log, and blocks none;
-- then drop it. Each step is recorded before it is done, so another session can continue an interrupted one. The caller
-- has called log_trim_begin, so one session trims at a time. `p_now` is for tests.
-- Costs: a scan of the partition when it begins with one
create or replace function log_trim_step(p_days int, p_now timestamptz default null)
returns table (statement text, is_last boolean)
language plpgsql volatile
-- A partition is read from end to end.
set enable_seqscan = on
as $$
declare
    v_name text;
    v_end bigint;
    v_is_leaving boolean;
    v_partition record;
begin
    select t.partition, t.end_pos into v_name, v_end from log_trims t where t.dropped_at is null;
    if found and to_regclass(quote_ident(v_name)) is null then
        update log_trims t set dropped_at = stamp() where t.end_pos = v_end;
        v_name := null;
    end if;

    if v_name is null then
        select * into v_partition from log_partitions() p where p.end_pos <= log_head() order by p.end_pos limit 1;
        if not found or (select e.at from events e where e.pos = v_partition.end_pos - 1)
            >= coalesce(p_now, stamp()) - make_interval(days => p_days) then
            return;
        end if;
        v_name := v_partition.name;
        execute format('insert into thread_trims (thread_id, pos)
            select e.thread_id, max(e.pos) from %I e where e.thread_id is not null group by e.thread_id
            on conflict (thread_id) do update set pos = excluded.pos', v_name);
        insert into log_trims (end_pos, partition, begun_at) values (v_partition.end_pos, v_name, stamp());
    end if;

    select p.is_leaving into v_is_leaving from log_partitions() p where p.name = v_name;
    is_last := not found;
    statement := case
        when is_last then format('drop table %I', v_name)
        when v_is_leaving then format('alter table events detach partition %I finalize', v_name)
        else format('alter table events detach partition %I concurrently', v_name) end;
    return next;
end $$;
