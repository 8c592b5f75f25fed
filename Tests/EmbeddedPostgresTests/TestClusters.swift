// The cluster that other suites use.

import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

@Suite("A test cluster", .timeLimit(.minutes(1)))
struct TestClusters {
    @Test("creates separate databases from a template")
    func databases() async throws {
        let cluster = try await TestCluster.shared()
        let first = try await cluster.createDatabase()
        try await cluster.psql("create table note (text text); insert into note values ('Grüße')", database: first)
        let second = try await cluster.createDatabase(template: first)
        try await cluster.psql("insert into note values ('again')", database: second)
        #expect(try await cluster.psql("select * from note", database: first) == "Grüße")
        #expect(try await cluster.psql("select count(*) from note", database: second) == "2")
        #expect(first != second)
    }

    @Test("keeps committed data when it is stopped hard and started again")
    func restart() async throws {
        let cluster = try await TestCluster.own()
        let database = try await cluster.createDatabase()
        try await cluster.psql("create table note (text text); insert into note values ('kept')", database: database)
        await cluster.stop(.immediate)
        #expect(!cluster.isRunning)
        try await cluster.start()
        #expect(try await cluster.psql("select * from note", database: database) == "kept")
        await cluster.close()
        #expect(!cluster.isRunning)
    }

    @Test("reports psql's message when a statement fails")
    func failure() async throws {
        let cluster = try await TestCluster.shared()
        let error = await #expect(throws: Psql.Failure.self) { try await cluster.psql("select 1/0") }
        #expect(error?.description.contains("division by zero") == true)
    }
}
