// A node's cache of admin keys, with the test's clock.
import Domain
import Log
import Postgres
import Store
import TestSupport
import Testing

@Suite("The cache of admin keys", .timeLimit(.minutes(1)))
struct CachedAdminKeys {
    private static let start: Int64 = 1_800_000_000_000_000

    /// A database with one key, whose token's digest is 7, and which expires 100 s after `start`.
    private static func ground() async throws -> (database: String, PostgresClient, AdminKeyID) {
        let database = try await MigratedDatabase.create()
        let client = PostgresClient(test: database)
        let key = AdminKeyID.make()
        _ = try await Store(client).createAdminKey(
            NewAdminKey(
                id: key, digest: [7], name: "shop", scopes: [.usersRead, .audit],
                expiresAt: Timestamp(microsSince1970: start + 100_000_000)),
            by: AdminActor(name: "test", requestID: nil))
        return (database, client, key)
    }

    @Test("finds a key with its scopes, and forgets it when it expires or is revoked")
    func forgets() async throws {
        let (_, client, key) = try await Self.ground()
        let cache = AdminKeyCache(Store(client))
        #expect(cache.cached([7], now: Self.start) == nil)
        let found = try #require(try await cache.find([7], now: Self.start))
        #expect(found.id == key && found.scopes == [.usersRead, .audit] && found.name == "shop")
        #expect(try await cache.find([8], now: Self.start) == nil)
        #expect(cache.cached([7], now: Self.start + 99_999_999) == found)
        #expect(cache.cached([7], now: Self.start + 100_000_000) == nil)
        cache.revoke(key, at: nil)
        #expect(cache.cached([7], now: Self.start) == nil && cache.isRevoked(key))
        // A read that began before the revocation.
        #expect(try await cache.find([7], now: Self.start) == nil)
        await client.shutdown()
    }

    @Test("reports the last use of a key with one write, however often it was used")
    func reportsUse() async throws {
        let (database, client, _) = try await Self.ground()
        let cache = AdminKeyCache(Store(client))
        func used() async throws -> String {
            try await cache.flush()
            return try await Psql.run(
                "select extract(epoch from last_used_at)::bigint - 1800000000 || ' ' || xmin from admin_keys",
                conninfo: database)
        }
        _ = try await cache.find([7], now: Self.start)
        for second in 1...50 as ClosedRange<Int64> { _ = cache.cached([7], now: Self.start + second * 1_000_000) }
        let first = try await used()
        #expect(first.hasPrefix("50 "))
        #expect(try await used() == first)
        await client.shutdown()
    }
}
