// Copies of a cluster: standbys to promote, restored backups, dumps loaded elsewhere.

import EmbeddedPostgres
import Foundation
import Linux

extension TestCluster {
    /// Another cluster with this one's data of now (1 s): what a copied data directory is once it was put back. The
    /// same system, the same timeline.
    package func copy() async throws -> TestCluster { try await copy(["-c", "fast"]) }

    /// A cluster that follows this one (1 s) until it is promoted.
    package func standby() async throws -> TestCluster { try await copy(["-c", "fast", "-R"]) }

    private func copy(_ options: [String]) async throws -> TestCluster {
        let guardian = try await Guardian.start()
        let configuration = try Self.configuration(in: guardian)
        let source = cluster.configuration
        // Its parent is ours, PostgreSQL's own directory its user's.
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

    /// Another cluster, made anew, with a dump of this one's database loaded into it, under the same name (3 s).
    package func restoredDump(of database: String) async throws -> TestCluster {
        let restored = try await TestCluster.own()
        let name = Self.databaseName(database)
        try await restored.psql("create database \(name) owner \(PostgresCluster.ownerRole)")
        let programs = cluster.configuration.binaries.directory
        // Both ends speak for themselves; what pg_dump prints is all that crosses over.
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

    /// Has a standby take writes; returns when it does.
    package func promote() async throws { try await psql("select pg_promote()") }

    /// Cuts a standby off: what its primary writes from now on is lost when this one is promoted.
    package func stopFollowing() async throws {
        try await psql("alter system set primary_conninfo = ''")
        try await psql("select pg_reload_conf()")
        try await wait(for: "the end of its following", "select count(*) = 0 from pg_stat_wal_receiver")
    }

    /// Waits until a standby shows all that this one has written.
    package func waitUntilShown(by standby: TestCluster) async throws {
        let end = try await psql("select pg_current_wal_flush_lsn()")
        try await standby.wait(for: "the position \(end)", "select pg_last_wal_replay_lsn() >= '\(end)'")
    }

    /// Asks until the answer is true, at most 15 s.
    private func wait(for what: String, _ question: String) async throws {
        for _ in 0..<300 {
            if try await psql(question) == "t" { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Psql.Failure(description: "not there in time: \(what)")
    }

    /// libpq's, for a database on whichever of these takes writes.
    package static func conninfo(database: String, onOneOf clusters: [TestCluster]) -> String {
        let hosts = clusters.map(\.cluster.configuration.socketDirectory).joined(separator: ",")
        return "host='\(hosts)' port=5432 user=\(PostgresCluster.ownerRole) dbname='\(databaseName(database))' "
            + "target_session_attrs=read-write"
    }
}
