// Secrets that all nodes share to send alerts, by the database alone.
import TestSupport
import Testing

@Suite("Secrets that nodes share", .timeLimit(.minutes(1)))
struct SharedSecrets {
    private func run(_ sql: String) async throws -> [String] { try await Psql.lines(sql, keepingEmpty: true) }

    @Test("the first key that is stored stays")
    func keys() async throws {
        let found = try await run(
            """
            select push_secret_keep('key', 'one'), push_secret_keep('key', 'two');
            select value = 'one' from push_secrets where name = 'key';
            """)
        #expect(found == ["\\x6f6e65|\\x6f6e65", "t"])
    }

    @Test("one node at a time renews a token, another one if the first fails, and before the token expires")
    func tokens() async throws {
        let found = try await run(
            """
            create function lease(at text) returns text language sql as $$
                select concat_ws(' ', encode(l.value, 'escape'), l.good_ms / 1000, l.is_due)
                from push_secret_lease('t', 30, ('2030-01-01T' || at || 'Z')::timestamptz) l $$;
            select lease('10:00:00');
            select lease('10:00:29');
            select lease('10:00:30');
            select push_secret_put('t', 'one', 3600, 3000, '2030-01-01T10:00:31Z');
            select lease('10:10:31');
            select lease('10:50:31');
            select lease('10:50:32');
            select lease('11:00:32');
            select push_secret_put('t', 'two', 3600, 3000, '2030-01-01T11:00:32Z');
            select push_secret_refuse('t', 'one', 0, '2030-01-01T11:00:40Z');
            select lease('11:00:40');
            select push_secret_refuse('t', 'two', 60, '2030-01-01T11:00:40Z');
            select lease('11:01:31');
            select lease('11:01:32');
            """)
        #expect(
            found.filter { !$0.isEmpty } == [
                "t", "f", "t", "one 3000 f", "one 600 t", "one 599 f", "t", "two 3592 f", "two 3541 f", "two 3540 t",
            ])
    }
}
