// Clients whose transactions are read-only, statements that take too long, and connections that are replaced.

import TestSupport
import Testing

@testable import Postgres

@Suite("A client that only reads", .timeLimit(.minutes(1)))
struct ReadOnlyClients {
    private func expectRefusedWrite(_ client: PostgresClient) async throws {
        do {
            try await client.run("create table here ()")
            Issue.record("a read-only client wrote")
        } catch PostgresError.server(let error) {
            #expect(error.sqlState == "25006")
        }
    }

    @Test("is refused each write, and keeps its connection")
    func refusesWrites() async throws {
        try await withClient(connections: 1, { $0.isReadOnly = true }) { client async throws in
            for _ in 0..<3 {
                try await expectRefusedWrite(client)
                #expect(try await client.run("select 7::int4").first?.int4(0) == 7)
            }
            #expect(client.statistics.totals.connectCount == 1 && client.statistics.totals.lostCount == 0)
        }
    }

    @Test("is refused each write behind PgBouncer, too, and leaves no setting there")
    func pooled() async throws {
        let cluster = try await TestCluster.shared()
        let bouncer = try await cluster.pooler(.transaction, sessionCountMax: 1)
        let conninfo = bouncer.conninfo(try await cluster.createDatabase())
        try await withClient(connections: 1, conninfo: conninfo, { $0.isReadOnly = true }) { client async throws in
            try await expectRefusedWrite(client)
            #expect(try await client.run("select 7::int4").first?.int4(0) == 7)
        }
        try await withClient(connections: 1, conninfo: conninfo) { client async throws in
            try await client.run("create table here ()")
        }
    }

    @Test("does not connect to a read-only server, although a client that writes does")
    func standby() async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        let name = try #require(database.firstMatch(of: /dbname='([^']+)'/)?.1)
        try await cluster.psql(
            "alter database \"\(name)\" set default_transaction_read_only = on", database: database)
        try await withClient(conninfo: database) { client async throws in
            #expect(try await client.run("select 7::int4").first?.int4(0) == 7)
        }
        try await withClient(
            conninfo: database,
            {
                $0.isReadOnly = true
                $0.waitMax = .milliseconds(300)
            }
        ) { client async throws in
            // The reason is unknown until the first attempt has failed.
            _ = try? await client.run("select 0")
            try await eventually("a failed connection") { client.statistics.totals.connectFailureCount > 0 }
            await #expect(throws: PostgresError.unavailable(ConnectFailure.readOnly.reason)) {
                try await client.run("select 7::int4")
            }
        }
    }

    @Test("replaces its connections on request, and loses no statement")
    func reconnects() async throws {
        try await withClient(connections: 1, { $0.isReadOnly = true }) { client async throws in
            let first = try await client.run("select pg_backend_pid()").first?.int4(0)
            async let slow = client.run("select pg_backend_pid(), pg_sleep(0.1)::text")
            try await eventually("a statement is in flight") { client.statistics.inFlightCount == 1 }
            client.reconnect()
            let second = try await client.run("select pg_backend_pid()").first?.int4(0)
            #expect(try await slow.first?.int4(0) == first)
            #expect(second != first)
        }
    }

    @Test("counts statements that timed out separately from those that failed")
    func timeouts() async throws {
        try await withClient(connections: 1, { $0.statementTimeout = .milliseconds(50) }) { client async throws in
            do {
                try await client.run("select pg_sleep(5)::text")
                Issue.record("a statement without an end")
            } catch PostgresError.server(let error) {
                #expect(error.isTimeout)
            }
            await #expect(throws: PostgresError.self) { try await client.run("select 1 / 0") }
            let totals = client.statistics.totals
            #expect(totals.timeoutCount == 1 && totals.serverErrorCount == 1)
        }
    }
}
