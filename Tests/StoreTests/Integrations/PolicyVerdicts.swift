// The verdicts of the policy in the database: each body has one, the first that is recorded.
import TestSupport
import Testing

@Suite("Verdicts of the policy", .timeLimit(.minutes(1)))
struct PolicyVerdicts {
    /// Users 1 and 2 in thread 1001, and short forms of the functions.
    private static let ground =
        Psql.users(3) + """
            select from thread_create(p(1001), 'group', 'G', null, p(1), array[p(2)], false);
            create function find(id int, text text, edit boolean default false) returns text language sql as $$
                select concat_ws(' ', f.outcome, f.code, f.payload) from policy_find(p(1), p(1001), p(id), edit, 'message',
                    json_build_object('text', text), null, '{}') f $$;
            create function record(id int, text text, action text, edit boolean default false) returns text language sql as $$
                select concat_ws(' ', f.outcome, f.code, f.payload) from policy_record(p(1), p(1001), p(id), edit, 'message',
                    json_build_object('text', text), null, '{}', '{}', null, action, case action when 'deny' then 'rude' end,
                    case action when 'deny' then 'Why' end, case action when 'rewrite' then '{"text":"w"}'::json end,
                    case action when 'rewrite' then '{}'::uuid[] end) f $$;
            create function append(id int, text text, by int default 1) returns text language sql as $$
                select outcome from message_append(array[p(id)], array[p(1001)], array[p(by)], array['message'],
                    array[json_build_object('text', text)], array[null]::uuid[], array['{}']) $$;

            """

    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(Self.ground + sql) }

    @Test("stay the first one about the same body, and are replaced by one about another")
    func first() async throws {
        let found = try await run(
            """
            select split_part(find(1, 'a'), ' ', 1);
            select record(1, 'a', 'deny');
            select record(1, 'a', 'allow');
            select find(1, 'a');
            select find(1, 'b');
            select record(1, 'b', 'allow');
            select find(1, 'b');
            select count(*) from policy_verdicts;
            """)
        #expect(found == ["ask", "deny rude", "deny rude", "deny rude", "ask", "allow", "allow", "1"])
    }

    @Test("count once when two nodes record at the same time")
    func together() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(Self.ground, conninfo: database)
        async let one = Psql.run(
            "begin; select record(1, 'a', 'review'); \(Psql.sleep) commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        async let other = Psql.run("select record(1, 'a', 'allow')", conninfo: database)
        #expect(try await Psql.isBlocked(in: database))
        try await Psql.wake(in: database)
        _ = try await one
        #expect(try await other == "review")
        #expect(try await Psql.run("select count(*) from reviews", conninfo: database) == "1")
    }

    @Test("let a retry of a rewritten message be compared with what was sent, however late")
    func rewritten() async throws {
        let found = try await run(
            """
            select record(1, 'a', 'rewrite');
            select append(1, 'w');
            select append(1, 'a'), append(1, 'b'), append(1, 'a', 2);
            select policy_sweep(10, now() + interval '8 days'), policy_sweep(10, now() + interval '8 days');
            select append(1, 'a'), append(1, 'b'), find(1, 'a');
            select payload is null, attachments is null from policy_verdicts;
            """)
        #expect(
            found == [
                #"rewrite {"text":"w"}"#, "created", "exists|conflict|conflict", "1|0", "exists|conflict|stored", "t|t",
            ])
    }

    @Test("expire, but not while a message is under review, and decisions are kept as long")
    func expiry() async throws {
        let found = try await run(
            """
            select record(1, 'a', 'allow') || record(2, 'a', 'deny') || record(3, 'a', 'review') || record(4, 'a', 'review')
                || record(5, 'a', 'rewrite');
            select review_put('kim', 'r', null, p(4), null, 'refuse') is null;
            select policy_sweep(10, now() + interval '6 days');
            select policy_sweep(2, now() + interval '8 days'), policy_sweep(10, now() + interval '8 days');
            select string_agg(right(message_id::text, 1) || action, ',') from policy_verdicts;
            select string_agg(right(message_id::text, 1) || state, ',') from reviews;
            select review_count(100);
            """)
        #expect(found.dropFirst() == ["f", "0", "3|2", "3review", "3pending", "1"])
    }

    @Test("leave nothing when the message is deleted, or the account is erased")
    func forgetting() async throws {
        let found = try await run(
            """
            select record(1, 'a', 'rewrite'), append(1, 'w'), record(1, 'e', 'review', true), record(2, 'a', 'review');
            select find(1, 'e', true), count(*) from reviews where state = 'pending';
            select message_delete(p(1), p(1001), p(1)) is null;
            select count(*) from policy_verdicts where message_id = p(1);
            select count(*) from reviews where message_id = p(1);
            select append(1, 'a');
            select account_erase(p(1), false) is null;
            select (select count(*) from policy_verdicts), (select count(*) from reviews);
            """)
        #expect(found.dropFirst() == ["review|2", "f", "0", "0", "exists", "f", "0|0"], "\(found)")
    }

    @Test("are not recorded for an account that was erased meanwhile")
    func erased() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await Psql.run(Self.ground + "select account_erase(p(1), false);", conninfo: database)
        let refused = try? await Psql.run("select record(1, 'a', 'rewrite')", conninfo: database)
        #expect(refused == nil)
        #expect(try await Psql.run("select count(*) from policy_verdicts", conninfo: database) == "0")
    }
}
