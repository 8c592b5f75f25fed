// How many sessions an account may have, and what a change of its password ends, by the database alone.
import TestSupport
import Testing

@Suite("The sessions of an account", .timeLimit(.minutes(1)))
struct SessionsOfAnAccount {
    /// An account with sessions 1 to 5, of which 1 was used last and 5 first, each with a push target.
    private static let sessions = """
        create function ann() returns uuid language sql immutable as $$ select '00000000-0000-0000-0000-00000000000a'::uuid $$;
        create function session(n int) returns uuid language sql immutable as $$
            select ('00000000-0000-0000-0000-00000000000' || n)::uuid $$;
        insert into users (id, username, username_key, name, password_hash, created_at)
        values (ann(), 'ann', 'ann', 'Ann', 'hash', now());
        insert into sessions (id, user_id, token_digest, created_at, last_used_at)
        select session(n), ann(), ('token' || n)::bytea, now() - interval '9 h', now() - n * interval '1 h'
        from generate_series(1, 5) n;
        insert into push_targets (session_id, user_id, platform, token, token_digest, registered_at, decided_pos)
        select session(n), ann(), 'fcm', 't' || n, ('t' || n)::bytea, now(), 0 from generate_series(1, 5) n;
        create function left_over() returns text language sql as $$
            select string_agg(right(s.id::text, 1), '' order by s.id) from sessions s
        $$;
        create function revoked() returns text language sql as $$
            select string_agg(right(e.session_id::text, 1), '' order by e.session_id) from events e
            where e.type = 'session.revoked'
        $$;
        """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.sessions + sql) }

    @Test("above the bound, the session unused for longest ends, and never the new one")
    func makesRoom() async throws {
        let found = try await run(
            """
            select array(select right(i::text, 1) from unnest(ended) i)
            from session_create(ann(), session(6), 'token6', null, 5);
            select left_over(), revoked(), (select count(*) from push_targets);
            select cardinality(ended) from session_create(ann(), session(7), 'token7', null, 6);
            select cardinality(ended) from session_create(ann(), session(8), 'token8', null, 2);
            select left_over(), revoked();
            select cardinality(ended) from session_create(ann(), session(9), 'token9', null, 1);
            select left_over();
            """)
        // 4 to 1 are older than 6 and 7, which were used when they were made.
        #expect(found == ["{5}", "12346|5|4", "0", "5", "78|123456", "2", "9"])
    }

    @Test("never exceed the bound under simultaneous sign-ins")
    func together() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(Self.sessions, conninfo: database)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    let calls = (0..<20).map {
                        "select from session_create(ann(), gen_random_uuid(), 'lane \(lane) \($0)', null, 8);"
                    }
                    _ = try await Psql.run(calls.joined(separator: "\n"), conninfo: database)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Psql.run("select count(*) from sessions", conninfo: database) == "8")
        // There were 85 in all.
        #expect(
            try await Psql.run("select count(*) from events where type = 'session.revoked'", conninfo: database)
                == "77")
    }

    @Test("far above the bound, end in parts")
    func comesDown() async throws {
        let found = try await run(
            """
            insert into sessions (id, user_id, token_digest, created_at, last_used_at)
            select gen_random_uuid(), ann(), ('old' || n)::bytea, now(), now() - interval '30 days'
            from generate_series(1, 1200) n;
            select cardinality(ended) from session_create(ann(), session(6), 'token6', null, 5);
            select cardinality(ended) from session_create(ann(), session(7), 'token7', null, 5);
            select cardinality(ended) from session_create(ann(), session(8), 'token8', null, 5);
            select cardinality(ended) from session_create(ann(), session(9), 'token9', null, 5);
            select left_over();
            """)
        #expect(found == ["500", "500", "203", "1", "16789"])
    }

    @Test("begin only by the account's present password, whose hash may be replaced")
    func signsIn() async throws {
        let found = try await run(
            """
            select count(*) from account_sign_in(ann(), 'other', 'new', session(6), 'token6', null, 9);
            select password_hash, left_over() from users;
            select count(*) from account_sign_in(ann(), 'hash', 'new', session(6), 'token6', null, 9);
            select count(*) from account_sign_in(ann(), 'hash', 'newer', session(7), 'token7', null, 9);
            select count(*) from account_sign_in(ann(), 'new', null, session(8), 'token8', null, 9);
            select password_hash, left_over() from users;
            """)
        #expect(found == ["0", "hash|12345", "1", "0", "1", "new|1234568"])
    }

    @Test("all but one end when the password changes, and only if the hash is the one that was checked")
    func changesPassword() async throws {
        let found = try await run(
            """
            select account_password_change(ann(), session(2), 'other', 'new', 100) is null;
            select password_hash, left_over() from users;
            select cardinality(account_password_change(ann(), session(2), 'hash', 'new', 100));
            select password_hash, left_over(), revoked() from users;
            do $$ begin
                perform account_password_change(ann(), session(1), 'new', 'newer', 100);
                raise 'not refused';
            exception when sqlstate 'PY401' then null;
            end $$;
            select password_hash, left_over() from users;
            """)
        #expect(found == ["t", "hash|12345", "4", "new|2|1345", "new|2"])
    }
}
