// A node's cache of sessions, with the test's clock.
import Domain
import Log
import Postgres
import Store
import TestSupport
import Testing

@Suite("The cache of sessions", .timeLimit(.minutes(1)))
struct CachedSessions {
    private static let dayMicros: Int64 = 86_400 * 1_000_000

    /// A database with one session, last used five days ago, whose token's digest is 7.
    private static func ground() async throws -> (database: String, PostgresClient, SessionID) {
        let database = try await MigratedDatabase.create()
        let session = SessionID.make()
        _ = try await Psql.run(
            """
            insert into users (id, name, created_at) values ('\(session)', 'Ann', now());
            insert into sessions (id, user_id, token_digest, created_at, last_used_at)
            values ('\(session)', '\(session)', '\\x07', now(), now() - interval '5 days');
            """, conninfo: database)
        let client = PostgresClient(test: database)
        return (database, client, session)
    }

    @Test("reports when a session was last used: at first, and then every five minutes of use")
    func notesUse() async throws {
        let (database, client, session) = try await Self.ground()
        let cache = SessionCache(Store(client))
        let start: Int64 = 1_800_000_000_000_000
        func used() async throws -> String {
            try await cache.flush()
            return try await Psql.run(
                "select extract(epoch from last_used_at)::bigint - 1800000000 from sessions where id = '\(session)'",
                conninfo: database)
        }
        _ = try await cache.find([7], now: start)
        #expect(try await used() == "0")
        #expect(cache.cached([7], now: start + 299_000_000) != nil)
        #expect(try await used() == "0")
        #expect(cache.touch(session, now: start + 301_000_000))
        #expect(cache.cached([7], now: start + 302_000_000) != nil)
        #expect(try await used() == "302")
        #expect(try await used() == "302")
        await client.shutdown()
    }

    @Test("keeps a session while it is used, and reads one again that was unused for long")
    func forgetsIdle() async throws {
        let (_, client, session) = try await Self.ground()
        let cache = SessionCache(Store(client), idleDays: 10)
        #expect(cache.cached([7], now: 0) == nil)
        #expect(try await cache.find([7], now: 0)?.session == session)
        #expect(cache.cached([7], now: 9 * Self.dayMicros)?.session == session)
        #expect(cache.cached([7], now: 18 * Self.dayMicros)?.session == session)
        #expect(cache.cached([7], now: 28 * Self.dayMicros) == nil)
        // The database decides, by its own clock: five days without use by now.
        #expect(try await cache.find([7], now: 28 * Self.dayMicros)?.session == session)
        #expect(try await SessionCache(Store(client), idleDays: 4).find([7], now: 0) == nil)
        await client.shutdown()
    }
}
