// Compares the events of a cold read with a scan of the whole log.
import TestSupport
import Testing

@Suite("A read of the log for one user", .timeLimit(.minutes(1)))
struct ReadingTheLogForOneUser {
    /// One user with 60 memberships, some of them over, some in two parts, and 4,000 events: of these threads, of
    /// others, of the user's own and of others' own.
    private static let history = """
        create function t(n int) returns uuid language sql immutable as $$ select md5('t' || n)::uuid $$;
        create function me() returns uuid language sql immutable as $$ select md5('me')::uuid $$;
        select setseed(0.5);
        insert into membership_spans (user_id, thread_id, from_pos, to_pos)
        select me(), t(n), x.a, case when n % 3 > 0 then x.a + 300 + (random() * 1500)::int end
        from generate_series(1, 60) n cross join lateral (select (random() * 2000)::int + n * 0 as a) x;
        insert into membership_spans (user_id, thread_id, from_pos, to_pos)
        select me(), s.thread_id, s.to_pos + 100, null from membership_spans s where s.to_pos < 2000;
        select from log_extend(14);
        -- The user's threads are busy at first, and then quiet: both ways of looking are taken.
        insert into events (pos, at, type, thread_id, user_id, body)
        select p, now(), 'x',
            case when random() < case when p < 1500 then 0.5 else 0.01 end then t((random() * 59)::int + 1) else t(1000) end,
            case when random() < 0.02 then me() when random() < 0.05 then md5('other')::uuid end, '{}'
        from generate_series(1, 4000) p;
        create function expected(p_after bigint, p_head bigint, p_count int) returns bigint[] language sql stable as $$
            select array(select e.pos from events e where e.pos > p_after and e.pos <= p_head and (e.user_id = me()
                or (e.user_id is null and exists (select from membership_spans s where s.user_id = me()
                    and s.thread_id = e.thread_id and e.pos >= s.from_pos and e.pos <= coalesce(s.to_pos, p_head))))
                order by e.pos limit p_count)
        $$;
        """

    @Test("finds all events in order, from any position and with any limit")
    func findsAll() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            Self.history + """
                select count(*), count(*) filter (where cardinality(e.found) = x.n),
                    count(*) filter (where sync_positions(me(), x.a, 4000, x.n) is distinct from e.found)
                from (select (random() * 4000)::bigint as a, (array[1, 2, 11, 101, 1000])[1 + (random() * 4)::int] as n
                    from generate_series(1, 100)) x
                cross join lateral (select expected(x.a, 4000, x.n) as found offset 0) e;
                """, conninfo: database)
        let counts = found.split(separator: "\n").last?.split(separator: "|").compactMap { Int($0) } ?? []
        #expect(counts.count == 3 && counts[0] == 100 && counts[2] == 0, "\(found)")
        // Some pages are full, others are not.
        #expect(counts.count == 3 && (10...90).contains(counts[1]), "\(found)")
    }
}
