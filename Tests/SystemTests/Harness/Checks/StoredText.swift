// Finds the tables that contain a text.

import TestSupport

/// Returns the tables that have the text in any column of a row, ignoring case.
func tables(with text: String, in database: String) async throws -> String {
    try await Psql.run(
        """
        create or replace function pg_temp.has(p_table regclass) returns boolean language plpgsql as $$
        declare v_found boolean;
        begin
            execute format('select exists (select from %s t where t::text ilike %L)', p_table, '%\(text)%') into v_found;
            return v_found;
        end $$;
        select string_agg(format('%s.%s', c.table_schema, c.table_name), ' ' order by 1)
        from information_schema.tables c
        where c.table_schema not in ('pg_catalog', 'information_schema') and c.table_type = 'BASE TABLE'
            and pg_temp.has(format('%I.%I', c.table_schema, c.table_name)::regclass);
        """, conninfo: database)
}

/// Stores `count` messages with this text (no quotes), as a node would.
func fill(_ thread: String, by sender: String, with text: String, count: Int, in database: String) async throws {
    // `g.n` makes each batch a separate call.
    try await Psql.run(
        """
        select sum((select count(*) from message_append(
            array(select gen_random_uuid() from generate_series(1, 200 + 0 * g.n)), array_fill('\(thread)'::uuid, array[200]),
            array_fill('\(sender)'::uuid, array[200]), array_fill('message'::text, array[200]),
            array_fill('{"text":"\(text)"}'::json, array[200]), array_fill(null::uuid, array[200]),
            array_fill('{}'::text, array[200])) a where a.outcome = 'created'))
        from generate_series(1, \(count / 200)) g (n);
        """, conninfo: database)
}
