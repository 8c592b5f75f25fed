// Copies of a cluster: standbys to promote, restored backups, dumps loaded elsewhere.

import EmbeddedPostgres
import Foundation
import Linux

extension TestCluster {
    /// Creates a cluster with a copy of this one's present data (1 s), like a restored copy of the data directory: with the
    /// same system identifier and timeline.
    package func copy() async throws -> TestCluster { try await copy(["-c", "fast"]) }

    /// Creates a standby of this cluster (1 s), which follows it until it is promoted.
    package func standby() async throws -> TestCluster { try await copy(["-c", "fast", "-R"]) }

    private func copy(_ options: [String]) async throws -> TestCluster {
        let guardian = try await Guardian.start()
        let configuration = try Self.configuration(in: guardian)
        let source = cluster.configuration
        // The parent directory belongs to this process, the data directory to PostgreSQL's user.
        try FileManager.default.createDirectory(
            atPath: configuration.dataDirectory, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        if let account = configuration.account {
            _ = chown(configuration.dataDirectory, account.userID, account.groupID)
        }
        let command = Program(
            executable: source.binaries.directory + "/pg_basebackup",
            arguments: [
                "-h", source.socketDirectory, "-U", PostgresCluster.superuserRole, "-D", configuration.dataDirectory,
                "-X", "stream", "--no-sync",
            ] + options, account: configuration.account)
        let (status, output) = try await command.run()
        guard status == 0 else { throw Psql.Failure(description: output) }
        let copy = PostgresCluster(configuration)
        try await copy.start()
        return TestCluster(cluster: copy, guardian: guardian)
    }

    /// Creates a new cluster with a dump of this one's database, under the same name (3 s).
    package func restoredDump(of database: String) async throws -> TestCluster {
        let restored = try await TestCluster.own()
        let name = Self.databaseName(database)
        try await restored.psql("create database \(name) owner \(PostgresCluster.ownerRole)")
        let programs = cluster.configuration.binaries.directory
        // pg_dump and pg_restore run separately, and only the file passes from one to the other.
        let command = Program(
            executable: "/bin/sh",
            arguments: [
                "-c", "set -e; \"$1/pg_dump\" -Fc -f \"$2\" -d \"$3\"; \"$1/pg_restore\" -e -d \"$4\" \"$2\"", "sh",
                programs, restored.cluster.configuration.dataDirectory + "/dump", superuserConninfo(database: name),
                restored.superuserConninfo(database: name),
            ], account: restored.cluster.configuration.account)
        let (status, output) = try await command.run()
        guard status == 0 else { throw Psql.Failure(description: output) }
        return restored
    }

    /// Returns a database as pg_dump writes it: text, with binary columns in hex.
    package func dump(of database: String) async throws -> Data {
        let file = cluster.configuration.dataDirectory + "/dump.sql"
        defer { unlink(file) }
        let command = Program(
            executable: cluster.configuration.binaries.directory + "/pg_dump",
            arguments: ["-f", file, "-d", superuserConninfo(database: Self.databaseName(database))],
            account: cluster.configuration.account)
        let (status, output) = try await command.run()
        guard status == 0 else { throw Psql.Failure(description: output) }
        return try Data(contentsOf: URL(filePath: file))
    }

    /// Promotes a standby; returns when it accepts writes.
    package func promote() async throws { try await psql("select pg_promote()") }

    /// Disconnects a standby: later writes of its primary are lost when this standby is promoted.
    package func stopFollowing() async throws {
        try await psql("alter system set primary_conninfo = ''")
        try await psql("select pg_reload_conf()")
        try await wait(for: "the end of its following", "select count(*) = 0 from pg_stat_wal_receiver")
    }

    /// Waits until a standby shows all of this cluster's writes.
    package func waitUntilShown(by standby: TestCluster) async throws {
        let end = try await psql("select pg_current_wal_flush_lsn()")
        try await standby.wait(for: "the position \(end)", "select pg_last_wal_replay_lsn() >= '\(end)'")
    }

    /// Repeats a query until its result is true, for 15 s at most.
    private func wait(for what: String, _ question: String) async throws {
        for _ in 0..<300 {
            if try await psql(question) == "t" { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Psql.Failure(description: "not there in time: \(what)")
    }

    /// A libpq connection string for a database on that one of these clusters that accepts writes.
    package static func conninfo(database: String, onOneOf clusters: [TestCluster]) -> String {
        let hosts = clusters.map(\.cluster.configuration.socketDirectory).joined(separator: ",")
        return "host='\(hosts)' port=5432 user=\(PostgresCluster.ownerRole) dbname='\(databaseName(database))' "
            + "target_session_attrs=read-write"
    }
}
