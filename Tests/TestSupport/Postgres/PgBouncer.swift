// PgBouncer from the system's package, in front of a test cluster.

import EmbeddedPostgres
import Foundation
import Linux
import Synchronization

/// A pooler on a socket in the directory of the cluster's socket. It ends with the test process, or when the last
/// reference is released.
package final class PgBouncer: Sendable {
    package enum Mode: String, Sendable { case session, transaction }

    private let process: ChildProcess
    private let directory: String
    private let port: Int
    /// The pooler's log.
    private let logFile: String

    private static let startCount = Atomic(0)

    private init(process: ChildProcess, directory: String, port: Int, logFile: String) {
        self.process = process
        self.directory = directory
        self.port = port
        self.logFile = logFile
    }

    deinit {
        // SIGTERM drops all connections at once.
        process.send(SIGTERM)
    }

    /// Starts a pooler with Debian's settings except for those set here.
    /// - Parameter sessionCountMax: the number of PostgreSQL sessions that all clients of a database share.
    package static func start(
        before cluster: PostgresCluster.Configuration, mode: Mode, sessionCountMax: Int
    ) async throws -> PgBouncer {
        let directory = cluster.socketDirectory
        // A number only: it names the socket.
        let port = 6432 + startCount.add(1, ordering: .relaxed).newValue
        let logFile = "\(directory)/pgbouncer.\(port).log"
        let settings = """
            [databases]
            * = host=\(directory) port=5432 user=\(PostgresCluster.ownerRole)
            [pgbouncer]
            listen_addr =
            listen_port = \(port)
            unix_socket_dir = \(directory)
            auth_type = any
            pool_mode = \(mode.rawValue)
            default_pool_size = \(sessionCountMax)
            max_client_conn = 200
            logfile = \(logFile)
            """
        let file = "\(directory)/pgbouncer.\(port).ini"
        try Data(settings.utf8).write(to: URL(filePath: file))
        _ = chmod(file, 0o644)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let command = Program(
            executable: "/usr/sbin/pgbouncer", arguments: ["-q", file], account: cluster.account,
            signalAtOurDeath: "KILL")
        let process = try await ChildProcess.start(command, input: null, output: null)
        let bouncer = PgBouncer(process: process, directory: directory, port: port, logFile: logFile)
        try await bouncer.waitForSocket()
        return bouncer
    }

    private func waitForSocket() async throws {
        for _ in 0..<1_000 where process.isRunning {
            if access("\(directory)/.s.PGSQL.\(port)", F_OK) == 0 { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Psql.Failure(description: "pgbouncer did not start: \(try log())")
    }

    /// Returns the conninfo of a database through the pooler: that of `TestCluster.createDatabase` with another port.
    package func conninfo(_ direct: String) -> String { direct.replacing("port=5432", with: "port=\(port)") }

    package func log() throws -> String { try String(contentsOfFile: logFile, encoding: .utf8) }
}
