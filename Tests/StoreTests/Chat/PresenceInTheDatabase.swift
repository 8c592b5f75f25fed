// Presence summed over nodes, by the database alone: time is a parameter.
import Store
import TestSupport
import Testing

@Suite("Presence in the database", .timeLimit(.minutes(1)))
struct PresenceInTheDatabase {
    /// Ann and Ben in a group, and Cleo outside of it.
    private static let people = """
        insert into users (id, username, username_key, name, created_at) select
            ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'u' || n, 'u' || n, 'User', now() from generate_series(1, 3) n;
        select from thread_create('00000000-0000-0000-0000-00000000000f', 'group', 'g', null,
            '00000000-0000-0000-0000-000000000001', '{00000000-0000-0000-0000-000000000002}', false);
        create function put(node text, came text, went text, at text) returns text language sql as $$
            select string_agg((p.body::json -> 'data' ->> 'presence') || coalesce('@' || (p.body::json -> 'data' ->> 'last_seen_at'), '')
                || ' ' || cardinality(p.threads), ',')
            from presence_put(node, came::uuid[], went::uuid[], array_fill(0::bigint, array[cardinality(went::uuid[])]),
                false, ('2030-01-01T' || at || 'Z')::timestamptz) p
        $$;
        create function seen(viewer int) returns text language sql as $$
            select user_get('00000000-0000-0000-0000-000000000001', ('00000000-0000-0000-0000-00000000000' || viewer)::uuid)
                ::json ->> 'presence'
        $$;
        """
    private static let ann = "{00000000-0000-0000-0000-000000000001}"

    private func run(_ sql: String) async throws -> [String] {
        try await Psql.lines(Self.people + sql, keepingEmpty: true)
    }

    @Test("a user who polls at several nodes comes online with the first and goes offline with the last")
    func sums() async throws {
        let found = try await run(
            """
            select put('a', '\(Self.ann)', '{}', '10:00:00');
            select put('b', '\(Self.ann)', '{}', '10:00:01');
            select seen(2);
            select put('a', '{}', '\(Self.ann)', '10:00:02');
            select seen(2);
            select put('b', '{}', '\(Self.ann)', '10:00:03');
            select seen(2);
            select count(*) from events where type like 'presence%';
            """)
        #expect(
            found.suffix(8) == [
                "online 1", "", "online", "", "online", "offline@2030-01-01T10:00:03.000Z 1", "offline", "0",
            ])
    }

    @Test("the user and people who share a thread see it, unless the user does not share it")
    func isShared() async throws {
        let found = try await run(
            """
            select put('a', '\(Self.ann)', '{}', '10:00:00');
            select seen(1), seen(2), seen(3);
            update users set preferences = '{"share_presence": false}' where username = 'u1';
            select coalesce(seen(2), 'null');
            select coalesce(put('a', '{}', '\(Self.ann)', '10:00:01'), 'null');
            """)
        #expect(found.suffix(4) == ["online 1", "online|online|", "null", "null"])
    }

    @Test("users of a dead node go offline, some at a time, unless they are online at another node")
    func sweeps() async throws {
        let all = "{00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002}"
        let found = try await run(
            """
            select put('a', '\(all)', '{}', '10:00:00');
            select put('b', '{00000000-0000-0000-0000-000000000002}', '{}', '10:00:00');
            select presence_heartbeat('b', '2030-01-01T10:00:40Z');
            select count(*) from presence_sweep(10, '2030-01-01T10:00:44Z');
            select seen(2);
            select count(*) from presence_sweep(10, '2030-01-01T10:00:46Z');
            select seen(2), (select last_seen_at = '2030-01-01T10:00:00Z' from users where username = 'u1');
            select user_id from presence;
            select string_agg(node, ',') from presence_nodes;
            select presence_heartbeat('a', '2030-01-01T10:00:50Z');
            """)
        #expect(
            found.suffix(8) == [
                "1", "0", "online", "1", "offline|t", "00000000-0000-0000-0000-000000000002", "b", "0",
            ])
    }
}
