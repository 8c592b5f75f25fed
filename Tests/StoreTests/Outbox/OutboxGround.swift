// What the tests of the outbox begin with.
import TestSupport

enum OutboxGround {
    /// `u(1)` to `u(6)` are accounts; `u(100)` is a group of the first two, `u(101)` one of the third. `pump()` handles
    /// the whole outbox, and returns how many rows failed. `said()` returns what the group's people wrote.
    static let sql = """
        create function u(n int) returns uuid language sql as $$
            select ('00000000-0000-0000-0001-' || lpad(n::text, 12, '0'))::uuid $$;
        insert into users (id, username, username_key, name, created_at)
        select u(n), 'u' || n, 'u' || n, 'U' || n, now() from generate_series(1, 6) n;
        select from thread_create(u(100), 'group', 'T', null, u(1), array[u(2)], false);
        select from thread_create(u(101), 'group', 'T', null, u(3), '{}', false);
        create function pump(p_limit int default 100) returns int language plpgsql as $$
        declare v_failed int := 0; s record;
        begin
            loop
                select * into s from outbox_step(p_limit, 5, 5, 100);
                exit when s.handled = 0;
                v_failed := v_failed + s.failed;
            end loop;
            return v_failed;
        end $$;
        create function said() returns text language sql as $$
            select string_agg(m.payload ->> 'text', ' ' order by m.seq) from messages m
            where m.thread_id = u(100) and m.type = 'message' $$;
        -- Returns the SQLSTATE and the code of an error, or `done`.
        create function outcome(p_sql text) returns text language plpgsql as $$
        begin
            execute p_sql;
            return 'done';
        exception when others then
            return sqlstate || ' ' || split_part(sqlerrm, ':', 1);
        end $$;
        """

    /// Runs SQL after `sql` in a new database, as the owner. Returns the lines that it prints.
    static func run(_ script: String) async throws -> [String] {
        try await Psql.run(sql + script, conninfo: try await MigratedDatabase.create())
            .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }.filter { !$0.isEmpty }
    }
}
