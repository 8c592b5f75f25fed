// The node's three pools: their shares of the connections, and slow reads that delay nothing else.

import Domain
import Logging
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("The pools of connections", .timeLimit(.minutes(1)))
struct ConnectionPools {
    @Test("share the connections, with at least one for each")
    func share() {
        func share(_ count: Int) -> [Int] {
            let share = DatabasePools.Share(of: count)
            return [share.log, share.changes, share.reads]
        }
        #expect(share(10) == [3, 2, 5])
        #expect(share(1) == [1, 1, 1] && share(3) == [1, 1, 1])
        #expect(share(4) == [1, 1, 2] && share(6) == [1, 2, 3])
        for count in 3...100 { #expect(share(count).reduce(0, +) == count) }
    }

    private func withStore(
        readTimeout: Duration, _ body: (Store, DatabasePools, String) async throws -> Void
    ) async throws {
        let database = try await MigratedDatabase.create()
        var settings = PostgresSettings(test: database)
        settings.connectionCountMax = 10
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let pools = DatabasePools(settings, readTimeout: readTimeout, logger: quiet)
        do {
            try await body(Store(pools), pools, database)
        } catch {
            await pools.shutdown()
            throw error
        }
        await pools.shutdown()
    }

    /// Locks the table of blocks against reads while `body` runs.
    private func withoutBlocks(_ database: String, _ body: () async throws -> Void) async throws {
        async let holding = Psql.run(
            "begin; lock table blocks in access exclusive mode;" + Psql.sleep + "commit;", conninfo: database)
        #expect(try await Psql.isAsleep(in: database))
        do {
            try await body()
        } catch {
            try await Psql.wake(in: database)
            throw error
        }
        try await Psql.wake(in: database)
        _ = try await holding
    }

    @Test("end a read that takes too long with 503, count it, and run the next one")
    func timeout() async throws {
        try await withStore(readTimeout: .milliseconds(200)) { store, pools, database in
            try await withoutBlocks(database) {
                await #expect(throws: Problem.readTimeout) {
                    try await store.blocks(of: UserID.make(), PageRequest())
                }
            }
            #expect(pools.reads.statistics.totals.timeoutCount == 1)
            let page = try await store.blocks(of: UserID.make(), PageRequest())
            #expect(page.items.isEmpty)
        }
    }

    @Test("have a free connection for other reads while four reads are blocked")
    func readsApart() async throws {
        try await withStore(readTimeout: .seconds(15)) { store, _, database in
            // Opens all connections first, so that each read finds one.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try await store.now() } }
                try await group.waitForAll()
            }
            var slow: [Task<Page, any Error>] = []
            try await withoutBlocks(database) {
                for _ in 0..<4 { slow.append(Task { try await store.blocks(of: UserID.make(), PageRequest()) }) }
                #expect(try await Psql.isBlocked(in: database))
                // If one of these waited for the blocked reads, those would time out.
                for _ in 0..<20 {
                    _ = try await store.now()
                    _ = try await store.findSession(digest: [7], idleDays: 90)
                    _ = try await store.touchSessions([:])
                    _ = try await store.readLog(after: .start, limit: 1)
                }
            }
            for read in slow { #expect(try await read.value.items.isEmpty) }
        }
    }

    @Test("keep the timeout of writes: a change that waits for a lock may take longer than a read")
    func changes() async throws {
        try await withStore(readTimeout: .milliseconds(100)) { store, _, database in
            let user = UserID.make()
            _ = try await store.register(
                user: user, username: "ann", key: "ann", name: "Ann", words: ["ann"], passwordHash: "-",
                session: NewSession(id: SessionID.make(), digest: [7], deviceName: nil, accountCountMax: 100))
            let other = UserID.make()
            _ = try await store.register(
                user: other, username: "ben", key: "ben", name: "Ben", words: ["ben"], passwordHash: "-",
                session: NewSession(id: SessionID.make(), digest: [8], deviceName: nil, accountCountMax: 100))
            var blocking: Task<Void, any Error>?
            try await withoutBlocks(database) { () async throws in
                blocking = Task { try await store.putBlock(of: other, by: user, isBlocked: true) }
                let isBlocked = try await Psql.isBlocked(in: database)
                #expect(isBlocked)
                // Meanwhile five reads time out, one after the other.
                for _ in 0..<5 {
                    await #expect(throws: Problem.readTimeout) { try await store.blocks(of: user, PageRequest()) }
                }
            }
            try await blocking?.value
            #expect(try await store.blocks(of: user, PageRequest()).items.count == 1)
        }
    }
}
