// Statements with a check before them in the same transaction.

import TestSupport
import Testing

@testable import Postgres

@Suite("A statement after a check", .timeLimit(.minutes(1)))
struct CheckedStatements {
    @Test("runs only if the check succeeds, and in its transaction")
    func checks() async throws {
        try await withClient(connections: 1) { client async throws in
            try await client.run("create table seen (n int)")
            let count = Statement("count", "select count(*), pg_current_xact_id_if_assigned()::text from seen")
            // Prepared by the first call, used by the later ones.
            for number in 0..<3 {
                let rows = try await client.query(
                    count, after: ("insert into seen select $1::int4", [.int4(Int32(number))]))
                #expect(try rows.first?.int8(0) == Int64(number + 1))
                #expect(rows.first?.isNull(1) == false)
            }
            do {
                _ = try await client.query(
                    Statement("insert", "insert into seen values (9)"), after: ("select 1 / $1::int4", [.int4(0)]))
                Issue.record("the check failed, and the statement ran")
            } catch PostgresError.server(let error) {
                #expect(error.sqlState == "22012")
            }
            // The statement that was not prepared is prepared now.
            _ = try await client.query(Statement("insert", "insert into seen values (9)"), after: ("select 1", []))
            #expect(try await client.query(count).first?.int8(0) == 4)
            #expect(client.statistics.totals.connectCount == 1)
        }
    }

    @Test("sees what was committed during the check")
    func snapshots() async throws {
        let database = try await TestCluster.shared().createDatabase()
        try await Gate.closed(database) { gate in
            try await Psql.run("create table seen (n int)", conninfo: database)
            try await withClient(connections: 1, conninfo: database) { client async throws in
                async let count = client.query(Statement("count", "select count(*) from seen"), after: (Gate.pass, []))
                #expect(try await Psql.isBlocked(in: database))
                try await Psql.run("insert into seen values (1)", conninfo: database)
                try await gate.open()
                #expect(try await count.first?.int8(0) == 1)
            }
        }
    }

    @Test("runs on a standby, where a pool that only reads does not connect otherwise")
    func standby() async throws {
        let primary = try await TestCluster.own()
        let database = try await primary.createDatabase()
        let standby = try await primary.standby()
        try await primary.waitUntilShown(by: standby)
        let conninfo = standby.conninfo(database: TestCluster.databaseName(database))
        try await withClient(
            conninfo: conninfo,
            {
                $0.isReadOnly = true
                $0.acceptsStandby = true
            }
        ) { client async throws in
            let rows = try await client.query(
                Statement("recovery", "select pg_is_in_recovery()"), after: ("select 1", []))
            #expect(try rows.first?.bool(0) == true)
        }
        await standby.close()
        await primary.close()
    }
}
