// Through PgBouncer: the client and the listener behind a pooler in transaction mode.

import TestSupport
import Testing

@testable import Postgres

@Suite("Behind PgBouncer", .timeLimit(.minutes(1)))
struct BehindPgBouncer {
    @Test("in transaction mode statements run on any session, and find their settings there")
    func transactions() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.transaction)
        let conninfo = bouncer.conninfo(try await cluster.createDatabase())
        try await withClient(connections: 4, conninfo: conninfo) { client async throws in
            let sessions = try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        // A few statements, each repeated on a different session.
                        let rows = try await client.query(
                            Statement(
                                "probe_\(number % 5)",
                                """
                                select pg_backend_pid(), current_setting('lock_timeout'), $1::int4,
                                    current_setting('TimeZone'), pg_sleep(0.001)::text, '\(number % 5)'
                                """), [.int4(Int32(number))])
                        let row = try #require(rows.first)
                        #expect(try row.text(1) == "1min" && row.text(3) == "UTC")
                        #expect(try row.int4(2) == Int32(number))
                        return try row.int4(0)
                    }
                }
                return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
            }
            #expect(sessions.count > 1)
            #expect(client.statistics.totals.serverErrorCount == 0 && client.statistics.totals.retryCount == 0)
            await #expect(throws: PostgresError.self) { try await client.run("select 1 / 0") }
            #expect(try await client.run("select 1::int4").first?.int4(0) == 1)
        }
    }

    @Test("in transaction mode nothing is prepared in a session that the next transaction may not get")
    func unprepared() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.transaction)
        let database = try await cluster.createDatabase()
        let conninfo = bouncer.conninfo(database)
        try await withClient(connections: 1, conninfo: conninfo) { client async throws in
            try await withClient(connections: 1, conninfo: conninfo) { other async throws in
                var sessions: Set<Int32> = []
                let statement = Statement("pid", "select pg_backend_pid()")
                for _ in 0..<3 {
                    // PgBouncer assigns the session used last. The other client gets it first, so the test's client gets a second one.
                    try await Gate.closed(database) { gate in
                        async let held = other.run(Gate.pass)
                        try await eventually("a statement is in flight") { other.statistics.inFlightCount == 1 }
                        sessions.insert(try await client.query(statement).first?.int4(0) ?? 0)
                        try await gate.open()
                        _ = try await held
                    }
                    sessions.insert(try await client.query(statement).first?.int4(0) ?? 0)
                }
                #expect(sessions.count > 1)
                #expect(client.statistics.totals.retryCount == 0)
            }
        }
    }

    @Test("no setting stays in the sessions that others use, too")
    func leavesNothing() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.transaction, sessionCountMax: 1)
        let conninfo = bouncer.conninfo(try await cluster.createDatabase())
        try await withClient(connections: 1, conninfo: conninfo) { client async throws in
            #expect(try await client.run("select current_setting('lock_timeout')").first?.text(0) == "1min")
        }
        #expect(try await Psql.run("show lock_timeout", conninfo: conninfo) == "0")
    }

    @Test("a database with another isolation than read committed is refused, with a reason")
    func isolation() async throws {
        let cluster = try await TestCluster.shared()
        let direct = try await cluster.createDatabase()
        try await cluster.psql(
            "do $$ begin execute format('alter database %I set default_transaction_isolation = serializable', "
                + "current_database()); end $$", database: direct)
        let bouncer = try await cluster.pooler(.transaction)
        try await withClient(connections: 1, conninfo: bouncer.conninfo(direct)) { client async throws in
            await #expect(throws: PostgresError.unavailable(ConnectFailure.isolation.reason)) {
                try await client.run("select 1")
            }
        }
        try await withClient(connections: 1, conninfo: direct) { client async throws in
            let isolation = try await client.run("select current_setting('transaction_isolation')")
            #expect(try isolation.first?.text(0) == "read committed")
        }
    }

    @Test("in transaction mode a listener reports that it receives nothing, and leaves no LISTEN in sessions of others")
    func swallowed() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.transaction, sessionCountMax: 1)
        let conninfo = bouncer.conninfo(try await cluster.createDatabase())
        var timing = ListenerState.Timing()
        timing.answerMax = .milliseconds(300)
        let listener = PostgresListener(
            PostgresSettings(conninfo: conninfo, applicationName: "parley-listen"), channel: "parley_log",
            logger: .quiet, timing: timing)
        let task = Task { try await listener.run { event in Issue.record("\(event)") } }
        // The listener has used the pool's only session more than once: each attempt uses two clients.
        try await eventually("more login attempts") { try bouncer.log().split(separator: "login attempt").count > 6 }
        let channels = try await Psql.run("select pg_listening_channels()", conninfo: conninfo)
        #expect(!channels.contains("parley_log") && channels.split(separator: "\n").count == 1, "\(channels)")
        task.cancel()
        try await task.value
    }

    @Test("in session mode a listener receives notifications")
    func session() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.session)
        let direct = try await cluster.createDatabase()
        let (events, continuation) = AsyncStream.makeStream(of: PostgresListener.Event.self)
        let listener = PostgresListener(
            PostgresSettings(conninfo: bouncer.conninfo(direct), applicationName: "parley-listen"),
            channel: "parley_log", logger: .quiet)
        let task = Task { try await listener.run { continuation.yield($0) } }
        try await bounded {
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == .connected)
            try await Psql.run("select pg_notify('parley_log', '1')", conninfo: direct)
            #expect(await iterator.next() == .notification(payload: "1"))
        }
        task.cancel()
        try await task.value
    }
}
