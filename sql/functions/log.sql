-- The log's own functions. All other functions write events only between log_begin and their commit.

-- Takes the log's lock and gives the last position written, 0 in an empty log. VOLATILE, so that the second statement
-- sees what the lock's last holder committed. The lock is an advisory one: it changes no row and ends with the transaction.
-- locks: the log (take it last: threads by id, then members, then the log)
create or replace function log_begin() returns bigint
language plpgsql volatile as $$
begin
    perform pg_advisory_xact_lock(7266001);
    return log_head();
end $$;

-- The last position in the caller's snapshot, 0 in an empty log. All below it is in that snapshot too.
-- locks: nothing
-- In PL/pgSQL, which keeps its plan: an SQL function of one's own is planned again at every call.
create or replace function log_head() returns bigint
language plpgsql stable as $$
begin
    return coalesce((select e.pos from events e order by e.pos desc limit 1), 0);
end $$;

-- Wakes the tails of all nodes; at most once in a transaction. NOTIFY takes a lock over the whole server at commit.
create or replace function log_announce(p_pos bigint) returns void
language sql volatile as $$
    select pg_notify('parley_log', p_pos::text)
$$;

-- The epoch that new cursors carry.
create or replace function log_epoch() returns int
language sql stable as $$
    select max(l.epoch) from log_epochs l
$$;

-- Makes partitions until `p_ahead` empty ones stand after the one being written; gives how many were made.
-- Each is made as a table of its own and then attached, which doesn't stop writers (CREATE … PARTITION OF would).
-- locks: the log's maintenance (advisory), `events` share update exclusive
create or replace function log_extend(p_ahead int, p_rows bigint default 10000000) returns int
language plpgsql volatile as $$
declare
    v_end bigint;
    v_name text;
    v_made int := 0;
begin
    perform pg_advisory_xact_lock(7266002);
    loop
        select coalesce(max((regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$TO \('?(\d+)'?\)$re$))[1]::bigint), 1)
        into v_end
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'events'::regclass;
        exit when v_end > log_head() + 1 + p_ahead * p_rows;
        v_name := 'events_' || v_end;
        execute format('create table %I (like events including defaults)', v_name);
        -- The check lets ATTACH skip its scan.
        execute format('alter table %I add constraint bounds check (pos >= %s and pos < %s)', v_name, v_end, v_end + p_rows);
        execute format('alter table events attach partition %I for values from (%s) to (%s)', v_name, v_end, v_end + p_rows);
        execute format('alter table %I drop constraint bounds', v_name);
        v_made := v_made + 1;
    end loop;
    return v_made;
end $$;

-- What a node's tail reads: the events after `p_after`, in order. Dropped first, because its columns may become more:
-- at the end, where older nodes don't look.
-- locks: nothing
drop function if exists log_read(bigint, int);
create function log_read(p_after bigint, p_limit int) returns table (
    pos bigint, type text, thread_id uuid, user_id uuid, begins uuid[], ends uuid[], session_id uuid, withdraws bigint,
    body text, at timestamptz)
language sql stable as $$
    select e.pos, e.type, e.thread_id, e.user_id, e.begins, e.ends, e.session_id, e.withdraws, e.body, e.at
    from events e where e.pos > p_after order by e.pos limit p_limit
$$;
