// Sessions that end because they are unused, by the database alone.
import Store
import TestSupport
import Testing

@Suite("Unused sessions", .timeLimit(.minutes(1)))
struct UnusedSessions {
    /// Six sessions of one account: 1 to 3 used today, 4 to 6 a hundred days ago.
    private static let sessions = """
        insert into users (id, name, created_at) values ('00000000-0000-0000-0000-00000000000a', 'Ann', now());
        insert into sessions (id, user_id, token_digest, created_at, last_used_at)
        select ('00000000-0000-0000-0000-00000000000' || n)::uuid, '00000000-0000-0000-0000-00000000000a',
            decode('0' || n, 'hex'), now() - interval '200 days', now() - case when n > 3 then interval '100 days' else '0' end
        from generate_series(1, 6) n;
        create function left_over() returns text language sql as $$
            select string_agg(right(s.id::text, 1), '' order by s.id) from sessions s
        $$;
        create function revoked() returns text language sql as $$
            select string_agg(right(e.session_id::text, 1), '' order by e.pos) from events e where e.type = 'session.revoked'
        $$;
        """

    private func run(_ sql: String, on database: String) async throws -> [String] {
        try await Psql.lines(sql, in: database)
    }

    @Test("are not found, even before they are ended")
    func notFound() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.sessions + """
                select count(*) from session_find('\\x01', 90);
                select count(*) from session_find('\\x04', 90);
                select count(*) from session_find('\\x04', 101);
                select left_over();
                """, on: database)
        #expect(found == ["1", "0", "1", "123456"])
    }

    @Test("are ended in parts, each with its event, and the walk starts again at the end")
    func parts() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.sessions + """
                select right(next::text, 1), ended_count from session_sweep(null, 4, 90);
                select left_over(), revoked();
                select right(next::text, 1), ended_count from session_sweep('00000000-0000-0000-0000-000000000004', 4, 90);
                select left_over(), revoked();
                select right(next::text, 1), ended_count from session_sweep(null, 4, 90);
                """, on: database)
        #expect(found == ["4|1", "12356|4", "|2", "123|456", "|0"])
    }

    @Test("are skipped while another transaction has locked them")
    func skipsLocked() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await run(Self.sessions, on: database)
        async let holding = run(
            """
            begin; select from sessions where id = '00000000-0000-0000-0000-000000000005' for update;
            \(Psql.sleep) commit;
            """, on: database)
        #expect(try await Psql.isAsleep(in: database))
        let found = try await run(
            "select ended_count from session_sweep(null, 100, 90); select left_over();", on: database)
        try await Psql.wake(in: database)
        _ = try await holding
        #expect(found == ["2", "1235"])
    }

    @Test("are signed out together with all others but one")
    func others() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.sessions + """
                select cardinality(session_delete_others(
                    '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000002', 4));
                select left_over(), revoked();
                select cardinality(session_delete_others(
                    '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000002', 4));
                select cardinality(session_delete_others(
                    '00000000-0000-0000-0000-00000000000b', '00000000-0000-0000-0000-000000000002', 4));
                select left_over(), revoked();
                """, on: database)
        #expect(found == ["4", "26|1345", "1", "0", "2|13456"])
    }
}
