-- Numbers for administrators.

-- Returns: the number of rows of a table: counted up to 100,000, above that as PostgreSQL estimates it.
create or replace function admin_row_count(p_table regclass) returns bigint
language plpgsql stable as $$
declare
    v_count bigint;
begin
    execute format('select count(*) from (select from %s limit 100001) x', p_table) into v_count;
    if v_count > 100000 then
        v_count := greatest(v_count, (select c.reltuples::bigint from pg_class c where c.oid = p_table));
    end if;
    return v_count;
end $$;

-- Returns: the numbers of accounts, threads, messages and so on.
create or replace function admin_stats() returns text
language sql stable as $$
    select json_build_object('users', admin_row_count('users'), 'sessions', admin_row_count('sessions'),
        'threads', admin_row_count('threads'), 'messages', admin_row_count('messages'), 'blocks', admin_row_count('blocks'),
        'online', (select count(distinct p.user_id) from presence p), 'erasures', (select count(*) from erasures),
        'log_position', log_head(), 'database_bytes', pg_database_size(current_database()))::text
$$;
