// The private PostgreSQL that Parley runs when no database is configured. PostgresCluster runs the server;
// DataDirectory has the directory and its lock.

import Glibc
import Linux
import Logging

/// A private PostgreSQL in a data directory, until it is stopped:
///
/// - `parley.lock`: allows one Parley at a time. The kernel releases the lock even at kill -9.
/// - `postgres/`: PostgreSQL's own directory. The operator may put settings into `local.conf` in it.
/// - `socket/`: its socket, accessible to its user and root only (elsewhere when the path is too long).
/// - `postgres.log` and `postgres.log.old`: at most 10 MiB when a start begins.
///
/// If Parley dies, the kernel signals the server, which shuts down. The next start waits for that, or recovers.
package final class EmbeddedPostgres: Sendable {
    private let directory: DataDirectory
    private let cluster: PostgresCluster
    private let logger: Logger

    private init(directory: DataDirectory, cluster: PostgresCluster, logger: Logger) {
        self.directory = directory
        self.cluster = cluster
        self.logger = logger
    }

    /// Locks the directory, creates a cluster in it if there is none, starts the server, and returns once it accepts
    /// connections. Measured: 0.1 s; 1 to 2 s the first time; longer with crash recovery.
    ///
    /// - Throws: `EmbeddedPostgresError` with a sentence for the operator; `CancellationError`. No server runs then.
    package static func start(dataDirectory: String, logger: Logger) async throws -> EmbeddedPostgres {
        try await start(dataDirectory: dataDirectory, logger: logger, path: nil)
    }

    /// Looks for PostgreSQL on `path` only: for tests.
    static func start(dataDirectory: String, logger: Logger, path: String?) async throws -> EmbeddedPostgres {
        do {
            let directory = try await Blocking.run { try DataDirectory.take(dataDirectory) }
            let configuration = try await Blocking.run { try configure(directory, path: path) }
            let cluster = PostgresCluster(configuration)
            if try PostgresCluster.existingMajor(dataDirectory: configuration.dataDirectory) == nil {
                logger.info(
                    "creating a PostgreSQL cluster", metadata: ["directory": "\(configuration.dataDirectory)"])
                try await cluster.initialise()
            }
            let embedded = EmbeddedPostgres(directory: directory, cluster: cluster, logger: logger)
            try await embedded.restart()
            return embedded
        } catch let error as FileError {
            throw EmbeddedPostgresError(.notWritable, "PostgreSQL's data directory cannot be used: \(error).")
        } catch is SetprivMissing {
            throw EmbeddedPostgresError(
                .binariesMissing,
                "setpriv is needed to run PostgreSQL as another user than root and was not found: "
                    + "install it (Debian: apt install util-linux), or start Parley as an ordinary user.")
        }
    }

    /// libpq keywords for Parley's database, as its owner (not a superuser).
    package var conninfo: String { cluster.conninfo() }

    /// Waits until the server has ended, after `stop()` or by itself, and returns how, for the log ("was ended by
    /// signal 9"). Throws only `CancellationError`.
    package func waitUntilExit() async throws -> String { try await cluster.waitUntilExit() }

    /// Restarts the server after it ended by itself. Throws as `start` does.
    package func restart() async throws {
        try await cluster.start()
        logger.info(
            "PostgreSQL runs",
            metadata: [
                "pid": "\(cluster.processID ?? 0)", "version": "\(cluster.configuration.binaries.major)",
                "user": "\(cluster.configuration.account?.name ?? "parley's own")",
                "directory": "\(cluster.configuration.dataDirectory)",
            ])
    }

    /// Shuts the server down: ends sessions and writes a checkpoint. After `waitMax` it stops the server immediately,
    /// which then recovers at the next start. Releases the directory. Ignores cancellation.
    package func stop(waitMax: Duration = .seconds(5)) async {
        await cluster.stop(.fast, waitMax: waitMax)
        SocketDirectory.removeIfElsewhere(cluster.configuration.socketDirectory, preferring: directory.path + "/socket")
        directory.release()
        logger.info("PostgreSQL stopped")
    }

    private static func configure(_ directory: DataDirectory, path: String?) throws -> PostgresCluster.Configuration {
        let clusterPath = directory.path + "/postgres"
        let found = try Files.status(clusterPath)
        let major = try PostgresCluster.existingMajor(dataDirectory: clusterPath)
        if found != nil && major == nil && rmdir(clusterPath) != 0 {
            throw EmbeddedPostgresError(
                .notACluster,
                "\(clusterPath) is not empty and holds no PostgreSQL cluster: move it away, or set PARLEY_DATA_DIR.")
        }
        let account = try SystemAccount.toRunPostgres(clusterOwner: major == nil ? nil : found?.st_uid)
        let binaries =
            try path.map { try PostgresBinaries.find(major: major, path: $0, usualDirectories: []) }
            ?? PostgresBinaries.find(major: major)
        try directory.checkReachable(by: account)
        if let account, found?.st_uid == 0, major != nil {
            // A copy that root made: PostgreSQL must own its directory.
            try Files.giveTree(clusterPath, to: account)
        }
        var configuration = PostgresCluster.Configuration(
            binaries: binaries, dataDirectory: clusterPath,
            socketDirectory: try SocketDirectory.make(preferring: directory.path + "/socket", account: account),
            logFile: directory.path + "/postgres.log")
        configuration.account = account
        return configuration
    }
}
