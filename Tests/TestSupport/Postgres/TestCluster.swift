// A real PostgreSQL for tests: one for the whole test process, or a separate one to stop and start.
// The tests create schemas and run migrations themselves.

import EmbeddedPostgres
import Foundation
import Synchronization

/// A PostgreSQL in a temporary directory. Server and directory are removed when the test process ends in any way.
package final class TestCluster: Sendable {
    let cluster: PostgresCluster
    private let guardian: Guardian
    /// The small disk that holds the data, if one was requested.
    package let disk: SmallDisk?
    private let databaseCount = Atomic(0)

    init(cluster: PostgresCluster, guardian: Guardian, disk: SmallDisk? = nil) {
        self.cluster = cluster
        self.guardian = guardian
        self.disk = disk
    }

    private static let sharedStart = Mutex<Task<TestCluster, any Error>?>(nil)

    /// The cluster that all suites of this test process share. Tests must not stop it. It does not wait for the disk, and
    /// so creates a database in half the time: no test ends the machine, and what a killed process has written stays. Its
    /// databases are not vacuumed, because each lives for seconds, and a process would visit all of them every minute.
    package static func shared() async throws -> TestCluster {
        let start = sharedStart.withLock { start in
            let running =
                start
                ?? Task {
                    try await own(
                        fsync: false,
                        settings: ["autovacuum": "off", "max_connections": "400", "wal_compression": "off"])
                }
            start = running
            return running
        }
        return try await start.value
    }

    /// Creates a separate cluster (0.9 s), for tests that stop it or need settings.
    /// - Parameter diskByteCount: the size of a separate disk for all its data; see `SmallDisk`.
    package static func own(
        fsync: Bool = true, settings: [String: String] = [:], diskByteCount: Int? = nil
    ) async throws -> TestCluster {
        let guardian = try await Guardian.start()
        var configuration = try configuration(in: guardian)
        let disk = try diskByteCount.map {
            try SmallDisk.mount(at: guardian.diskDirectory, byteCount: $0, account: configuration.account)
        }
        if let disk { configuration.dataDirectory = disk.directory + "/postgres" }
        if !fsync { configuration.settings["fsync"] = "off" }
        configuration.settings.merge(settings) { $1 }
        let cluster = PostgresCluster(configuration)
        try await cluster.initialise()
        try await cluster.start()
        return TestCluster(cluster: cluster, guardian: guardian, disk: disk)
    }

    static func configuration(in guardian: Guardian) throws -> PostgresCluster.Configuration {
        var configuration = PostgresCluster.Configuration(
            binaries: try PostgresBinaries.find(), dataDirectory: guardian.directory + "/postgres",
            socketDirectory: guardian.directory + "/socket", logFile: guardian.directory + "/postgres.log")
        configuration.account = try guardian.prepare(socketDirectory: configuration.socketDirectory)
        configuration.flushesNewCluster = false
        configuration.settings = ["log_min_messages": "warning", "log_min_error_statement": "error"]
        return configuration
    }

    /// Creates a database and returns its conninfo, which names the owner (no superuser). Copies `template` if given: the
    /// conninfo, or the name, of a database without sessions.
    package func createDatabase(template: String? = nil) async throws -> String {
        let number = databaseCount.add(1, ordering: .relaxed).newValue
        let name = "test_\(number)"
        let source = template.map(Self.databaseName) ?? "template1"
        try await psql("create database \(name) owner \(PostgresCluster.ownerRole) template \"\(source)\"")
        return cluster.conninfo(database: name)
    }

    /// Starts a pooler in front of the cluster.
    package func pooler(_ mode: PgBouncer.Mode, sessionCountMax: Int = 3) async throws -> PgBouncer {
        try await PgBouncer.start(before: cluster.configuration, mode: mode, sessionCountMax: sessionCountMax)
    }

    /// Connects as the owner of the database, as `createDatabase` does.
    package func conninfo(database: String) -> String { cluster.conninfo(database: database) }

    package func superuserConninfo(database: String = "postgres") -> String {
        cluster.conninfo(database: database, user: PostgresCluster.superuserRole)
    }

    /// Runs SQL as superuser; see `Psql.run`. `database` is a name or a conninfo.
    @discardableResult
    package func psql(_ sql: String, database: String = "postgres") async throws -> String {
        try await Psql.run(sql, conninfo: superuserConninfo(database: Self.databaseName(database)))
    }

    /// The server's socket.
    package var socket: String { cluster.configuration.socketDirectory + "/.s.PGSQL.5432" }

    /// The processes that serve nodes, those with a statement under way first.
    package func sessions() async throws -> [pid_t] {
        let found = try await psql(
            """
            select pid from pg_stat_activity where application_name = 'parley' and backend_type = 'client backend'
            order by state <> 'active', random()
            """)
        return found.split(separator: "\n").compactMap { pid_t($0) }
    }

    package var isRunning: Bool { cluster.isRunning }

    /// The server's process id while it runs.
    package var processID: pid_t? { cluster.processID }

    package func stop(_ mode: PostgresCluster.StopMode = .fast) async { await cluster.stop(mode) }

    package func start() async throws { try await cluster.start() }

    /// Ends the server and removes everything.
    package func close() async {
        await cluster.stop(.immediate)
        await guardian.end()
    }

    /// The server's log so far.
    package func log() throws -> String {
        try String(contentsOfFile: cluster.configuration.logFile, encoding: .utf8)
    }

    /// Returns the name of a database that a conninfo names, or a name as it is.
    package static func databaseName(_ text: String) -> String {
        guard let range = text.range(of: "dbname='") else { return text }
        return String(text[range.upperBound...].prefix { $0 != "'" })
    }
}
