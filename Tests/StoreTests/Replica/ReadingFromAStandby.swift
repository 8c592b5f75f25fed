// Reads on a real streaming standby: while it follows, pauses, dies, is promoted, or belongs to another history.
import Domain
import Logging
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("Reading from a standby", .serialized, .timeLimit(.minutes(2)))
struct ReadingFromAStandby {
    private static let ann = "00000000-0000-0000-0000-000000000001"
    private static let thread = "00000000-0000-0000-0000-000000000002"

    /// A primary with a thread, a standby, and a store that reads from it.
    private struct Scene {
        let primary: TestCluster
        let standby: TestCluster
        let database: String
        let store: Store

        /// Changes Ann's name, without an event of the log, and expects to read the new one.
        func checkFresh(_ name: String) async throws {
            try await Psql.run("update users set name = '\(name)'", conninfo: database)
            #expect(try await members().contains("\"\(name)\""))
        }

        func members() async throws -> String {
            let (ann, thread) = (
                try #require(UserID(parsing: ReadingFromAStandby.ann)),
                try #require(ThreadID(parsing: ReadingFromAStandby.thread))
            )
            let page = try await store.members(of: thread, for: ann, PageRequest(limit: 10))
            return page.items.map { String(decoding: $0.utf8, as: UTF8.self) }.joined()
        }

        /// Reads until the replica answers.
        func waitUntilUsed() async throws { try await expectOnReplica { _ = try await members() } }

        /// Repeats a read until the replica answers it. On a busy machine it may lag for a moment.
        func expectOnReplica(_ read: () async throws -> Void) async throws {
            try await eventually("a read on the replica") {
                let before = store.replicaMetrics.reads.value
                try await read()
                return store.replicaMetrics.reads.value > before
            }
        }

        func primaryReads(_ reason: PrimaryReason) -> Int { store.replicaMetrics.primaryReads[reason] }
    }

    private func withScene(_ body: @Sendable @escaping (Scene) async throws -> Void) async throws {
        let primary = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: primary)
        try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at) values ('\(Self.ann)', 'ann', 'ann', 'Ann', now());
            insert into threads (id, kind, created_at, member_count) values ('\(Self.thread)', 'group', now(), 1);
            insert into members (thread_id, user_id, role, status) values ('\(Self.thread)', '\(Self.ann)', 'owner', 'joined');
            """, conninfo: database)
        let standby = try await primary.standby()
        try await primary.waitUntilShown(by: standby)
        let replica = PostgresSettings(test: standby.conninfo(database: TestCluster.databaseName(database)))
        let pools = DatabasePools(
            PostgresSettings(test: database), replica: replica, readTimeout: .seconds(15), logger: .quiet)
        let store = Store(pools)
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.followReplica() }
                try await body(Scene(primary: primary, standby: standby, database: database, store: store))
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
        } catch {
            await pools.shutdown()
            throw error
        }
        await pools.shutdown()
        await standby.close()
        await primary.close()
    }

    @Test("reads see each change from before, on the replica and, while the replay is paused, on the primary")
    func paused() async throws {
        try await withScene { scene in
            try await scene.waitUntilUsed()
            for number in 0..<30 { try await scene.checkFresh("follows \(number)") }
            #expect(scene.store.replicaMetrics.reads.value > 1)
            try await scene.standby.psql("select pg_wal_replay_pause()")
            for number in 0..<30 { try await scene.checkFresh("paused \(number)") }
            #expect(scene.primaryReads(.lagging) >= 29)
            try await scene.standby.psql("select pg_wal_replay_resume()")
            try await scene.waitUntilUsed()
            try await scene.checkFresh("resumed")
        }
    }

    @Test("a standby that is killed: the primary answers, and the standby again when it is back")
    func killed() async throws {
        try await withScene { scene in
            try await scene.waitUntilUsed()
            await scene.standby.stop(.immediate)
            for number in 0..<10 { try await scene.checkFresh("killed \(number)") }
            #expect(scene.primaryReads(.away) >= 10)
            try await scene.standby.start()
            try await scene.waitUntilUsed()
            try await scene.checkFresh("back")
        }
    }

    @Test("a promoted standby is not used, whatever is written there")
    func promoted() async throws {
        try await withScene { scene in
            try await scene.waitUntilUsed()
            try await scene.standby.promote()
            try await Psql.run(
                "update users set name = 'Nobody'; select (log_enter()).epoch",
                conninfo: scene.standby.conninfo(database: TestCluster.databaseName(scene.database)))
            for number in 0..<10 { try await scene.checkFresh("promoted \(number)") }
            #expect(scene.primaryReads(.notAReplica) >= 10)
        }
    }

    @Test("a read that the replay cancels is repeated on the primary, once")
    func conflict() async throws {
        try await withScene { scene in
            try await scene.standby.psql("alter system set max_standby_streaming_delay = 0")
            try await scene.standby.psql("select pg_reload_conf()")
            try await scene.waitUntilUsed()
            // The primary would answer at once, so a slow read is on the replica.
            let slow = Statement("slow", "select case when pg_is_in_recovery() then pg_sleep(60)::text end, 7::int4")
            async let answer = scene.store.replica.row(slow, []) { try $0.int4(1) }
            try await eventually("the read to be slow") {
                try await scene.standby.psql("select count(*) from pg_stat_activity where wait_event = 'PgSleep'")
                    == "1"
            }
            let before = scene.store.replicaMetrics.reads.value
            try await scene.primary.psql(
                "create table gone as select 1; delete from gone; vacuum gone", database: scene.database)
            #expect(try await answer == 7)
            #expect(scene.primaryReads(.conflict) == 1 && scene.store.replicaMetrics.reads.value == before)
            try await scene.checkFresh("later")
        }
    }

    @Test("a refusal on the replica is the answer")
    func refused() async throws {
        try await withScene { scene in
            let (ann, other) = (
                try #require(UserID(parsing: Self.ann)), try #require(ThreadID(parsing: Self.ann))
            )
            try await scene.expectOnReplica {
                await #expect(throws: Problem.threadNotFound) {
                    try await scene.store.members(of: other, for: ann, PageRequest(limit: 10))
                }
            }
        }
    }

    @Test("every read that may run on a replica runs on a standby")
    func allReads() async throws {
        try await withScene { scene in
            let (ann, thread) = (
                try #require(UserID(parsing: Self.ann)), try #require(ThreadID(parsing: Self.thread))
            )
            let (store, request) = (scene.store, PageRequest(limit: 10))
            try await scene.expectOnReplica {
                _ = try await store.messages(in: thread, for: ann, before: nil, after: nil, limit: 10)
            }
            try await scene.expectOnReplica {
                _ = try await store.searchMessages("word", in: nil, for: ann, request, timeoutMs: 1_000)
            }
            try await scene.expectOnReplica { _ = try await store.members(of: thread, for: ann, request) }
            try await scene.expectOnReplica { _ = try await store.exportAccount(ann) }
            for part in ExportPart.allCases {
                try await scene.expectOnReplica { _ = try await store.export(part, of: ann, after: nil, limit: 10) }
            }
            try await scene.expectOnReplica {
                _ = try await store.exportVersions(of: PageKey(rank: 1, id: thread.uuid), by: ann, after: 0, limit: 10)
            }
        }
    }

    /// A standby of the former primary has replayed more than the new primary has written.
    @Test("after a failover, a standby that follows the former primary is not used")
    func failover() async throws {
        let former = try await TestCluster.own()
        let database = try await MigratedDatabase.make(on: former)
        let (successor, follower) = (try await former.standby(), try await former.standby())
        try await former.waitUntilShown(by: successor)
        try await successor.stopFollowing()
        try await successor.promote()
        let name = TestCluster.databaseName(database)
        func bound() async throws -> String {
            try await Psql.run(
                "select lsn || ',' || epoch || ',' || head || ',''' || system || '''', is_of_this_run from replica_bound()",
                conninfo: successor.conninfo(database: name))
        }
        // The number of the epoch is still the former primary's.
        #expect(try await bound().hasSuffix("|f"))
        try await Psql.run("select (log_enter()).epoch", conninfo: successor.conninfo(database: name))
        let parts = try await bound().split(separator: "|")
        #expect(parts.last == "t")
        // Another file of the WAL begins 16 MB further on.
        try await former.psql("select pg_switch_wal(); create table more as select generate_series(1, 1000)")
        try await former.waitUntilShown(by: follower)
        let answer = try await Psql.run(
            "select replayed > \(parts[0].split(separator: ",")[0]), lack from replica_lack(\(parts[0]))",
            conninfo: follower.conninfo(database: name))
        #expect(answer == "t|not_a_replica")
        // The successor itself follows nobody.
        let own = try await Psql.run(
            "select lack from replica_lack(\(parts[0]))", conninfo: successor.conninfo(database: name))
        #expect(own == "not_a_replica")
        for cluster in [former, successor, follower] { await cluster.close() }
    }

    @Test("with commits that do not wait for the disk, a bound covers what was inserted")
    func commitsWithoutDisk() async throws {
        let database = try await MigratedDatabase.create()
        let found = try await Psql.run(
            """
            set synchronous_commit = off;
            update node_channels set key = key;
            select pg_current_wal_insert_lsn() as inserted \\gset
            select '0/0'::pg_lsn + lsn >= :'inserted' from replica_bound();
            """, conninfo: database)
        #expect(found == "t")
    }
}
