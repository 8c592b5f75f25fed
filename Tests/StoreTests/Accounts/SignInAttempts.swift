// Attempts to sign in as all nodes count them, by the database alone.
import TestSupport
import Testing

@Suite("Attempts to sign in", .timeLimit(.minutes(1)))
struct SignInAttempts {
    /// First a bucket of three an hour, then one of a hundred; the longest wait is a minute.
    private static let functions = """
        create function begins(p_name text) returns text language sql as $$
            select coalesce((select b.number || ' ' || round(b.wait_ms / 1000.0) from sign_in_begin(
                p_name::bytea, 60, array['a'::bytea, 'b'], '{1200000,36000}', '{3600000,3600000}') b), 'goes on')
        $$;
        create function fails(p_name text) returns text language sql as $$
            select coalesce((select b.number || ' ' || round(b.wait_ms / 1000.0) from sign_in_begin(
                p_name::bytea, 60, '{}', '{}', '{}') b), 'goes on')
        $$;
        create function ends(p_name text, p_outcome text, p_keys bytea[] default '{}', p_steps int[] default '{}')
        returns void language sql as $$ select sign_in_end(p_name::bytea, p_outcome, p_keys, p_steps) $$;
        create function count_of(p_name text) returns int language sql as $$
            select f.failed from sign_in_failures f where f.key = p_name::bytea
        $$;
        """

    private func run(_ sql: String, on database: String? = nil) async throws -> [String] {
        try await Psql.lines(Self.functions + sql, in: database)
    }

    @Test("wait longer after each wrong password from the tenth on, up to the longest wait")
    func waits() async throws {
        let found = try await run(
            """
            select distinct fails('ann') from generate_series(1, 10);
            select fails('ann'), fails('ann'), fails('bob');
            do $$ begin
                for n in 11 .. 20 loop
                    update sign_in_failures set failed_at = clock_timestamp() - interval '1 min';
                    if fails('ann') <> 'goes on' then raise 'not at the %th', n; end if;
                end loop;
            end $$;
            select fails('ann'), count_of('ann');
            select extract(epoch from sign_in_wait(n, 60)) from unnest(array[0, 9, 10, 11, 12, 15, 16, 1000000]) n;
            """)
        #expect(
            found == [
                "goes on", "0 1|0 1|goes on", "0 60|20", "0.000000", "0.000000", "1.000000", "2.000000", "4.000000",
                "32.000000", "60.000000", "60.000000",
            ])
    }

    @Test("that are right clear the wrong ones before them, and those without an outcome do not count")
    func outcomes() async throws {
        let found = try await run(
            """
            select fails('ann') from generate_series(1, 9);
            select from ends('ann', 'none');
            select count_of('ann');
            select from ends('ann', 'wrong');
            select count_of('ann');
            select from ends('ann', 'right');
            select count(*) from sign_in_failures;
            """)
        #expect(found.suffix(3) == ["8", "8", "0"])
    }

    @Test("that one limit refuses use up no other limit")
    func refused() async throws {
        let found = try await run(
            """
            select begins('ann') from generate_series(1, 5);
            select count_of('ann');
            select round(extract(epoch from full_at - now()) / 36) from rate_limits where key = 'b';
            select from ends('ann', 'wrong', '{a}', '{1200000}');
            select begins('ann');
            """)
        #expect(found == ["goes on", "goes on", "goes on", "1 1200", "1 1200", "3", "3", "goes on"])
    }

    @Test("are deleted a day after the last, a part at a time")
    func sweep() async throws {
        let found = try await run(
            """
            select fails('ann'), fails('bob'), fails('cem');
            update sign_in_failures set failed_at = now() - interval '25 h' where key <> 'cem';
            select sign_in_sweep(1), sign_in_sweep(10), sign_in_sweep(10);
            select count(*) from sign_in_failures;
            """)
        #expect(found == ["goes on|goes on|goes on", "1|1|0", "1"])
    }
}
