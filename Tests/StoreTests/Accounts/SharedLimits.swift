// Limits that all nodes share, by the database alone.
import TestSupport
import Testing

@Suite("Shared limits", .timeLimit(.minutes(1)))
struct SharedLimits {
    /// Three in an hour for `a`, five for `b`.
    private static let take = """
        create function try_both() returns text language sql as $$
            select coalesce((select number || ' ' || round(wait_ms / 60000.0) from rate_limit_take(
                '{a,b}', '{1200000,720000}', '{3600000,3600000}')), 'taken')
        $$;
        create function try_b() returns text language sql as $$
            select coalesce((select number || ' ' || round(wait_ms / 60000.0) from rate_limit_take(
                '{b}', '{720000}', '{3600000}')), 'taken')
        $$;
        """

    private func run(_ sql: String, on database: String) async throws -> [String] {
        try await Psql.lines(sql, in: database)
    }

    @Test("are used up by all nodes; the first empty bucket refuses, and later buckets stay unchanged")
    func take() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.take + """
                select try_both() from generate_series(1, 5);
                select try_b() from generate_series(1, 3);
                """, on: database)
        #expect(found == ["taken", "taken", "taken", "1 20", "1 20", "taken", "taken", "1 12"])
    }

    @Test("get tokens back by refunds and with time")
    func back() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.take + """
                select try_both() from generate_series(1, 4);
                select from rate_limit_give_back('{a,b,c}', '{1200000,720000,1}');
                select try_both(), try_both();
                update rate_limits set full_at = full_at - interval '25 min';
                select try_both(), try_both();
                update rate_limits set full_at = full_at - interval '10 h';
                select try_both() from generate_series(1, 4);
                """, on: database)
        #expect(
            found == ["taken", "taken", "taken", "1 20", "taken|1 20", "taken|1 15", "taken", "taken", "taken", "1 20"])
    }

    @Test("never grant simultaneous callers more tokens than they have")
    func together() async throws {
        let database = try await MigratedDatabase.create()
        _ = try await run(Self.take, on: database)
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await run("select try_b();\nselect try_b();\nselect try_b();", on: database)
                        .count { $0 == "taken" }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(taken == 5)
    }

    @Test("are deleted when they are full, a part at a time")
    func sweep() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await run(
            Self.take + """
                select try_both();
                select rate_limit_sweep(10);
                update rate_limits set full_at = now() - interval '1 s';
                select rate_limit_sweep(1), rate_limit_sweep(1), rate_limit_sweep(1);
                select count(*) from rate_limits;
                """, on: database)
        #expect(found == ["taken", "0", "1|1|0", "0"])
    }
}
