// The longest retention of the whole service, by the database alone.
import TestSupport
import Testing

@Suite("The longest retention of the service", .timeLimit(.minutes(1)))
struct LongestRetention {
    /// Two threads with seven messages each, a day apart. The last one is of today.
    private static let threads = """
        insert into users (id, name, created_at) values ('00000000-0000-0000-0000-00000000000a', 'Ann', now());
        insert into threads (id, kind, title, created_at) select ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'group',
            'T' || n, now() - interval '9 days' from generate_series(1, 2) n;
        insert into members (thread_id, user_id, role, status, joined_at)
        select t.id, '00000000-0000-0000-0000-00000000000a', 'owner', 'joined', now() - interval '9 days' from threads t;
        insert into messages (thread_id, seq, id, sender_id, type, payload, created_at, pos)
        select t.id, s, gen_random_uuid(), case when s > 1 then '00000000-0000-0000-0000-00000000000a'::uuid end,
            case when s = 1 then 'system' else 'message' end, '{"text":"hello"}', now() - (7 - s) * interval '1 day', 0
        from threads t, generate_series(1, 7) s;
        create function left_over() returns text language sql as $$
            select string_agg(right(m.thread_id::text, 1) || m.seq, ' ' order by m.thread_id, m.seq)
            from messages m where m.payload is not null
        $$;
        """

    @Test("clears threads in parts of what is older, except system messages, and each part once")
    func clears() async throws {
        let database = try await MigratedDatabase.create()
        let step = "select right(next::text, 1), looked from retention_limit(%, 10, 3 * 86400 + 3600, 3);"
        let one = "'00000000-0000-0000-0000-000000000001'"
        let found = try await Psql.run(
            Self.threads + "select left_over();"
                + [step.replacing("%", with: "null"), "select left_over();"].joined()
                + step.replacing("%", with: "null") + step.replacing("%", with: one)
                + "select left_over(); select string_agg(seq::text, ' ') from retention_walks;"
                + "select count(*) from events where type = 'message.deleted';"
                + "select right(next::text, 1), looked from retention_limit(null, 1, 3 * 86400 + 3600, 3);"
                + "select right(next::text, 1), looked from retention_limit(null, 10, 86400 + 3600, 3);"
                + "select left_over();",
            conninfo: database)
        #expect(
            found.split(separator: "\n") == [
                "11 12 13 14 15 16 17 21 22 23 24 25 26 27", "|3", "11 14 15 16 17 21 22 23 24 25 26 27", "1|3", "|0",
                "11 14 15 16 17 21 24 25 26 27", "3 3", "4", "1|0", "|2", "11 16 17 21 24 25 26 27",
            ])
    }
}
