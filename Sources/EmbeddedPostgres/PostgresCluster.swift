// One PostgreSQL server of our own: makes its data directory, starts it, watches it, stops it. Where the directory is,
// who may use it and what happens after a crash of ours are decided by EmbeddedPostgres and by tests.

import Glibc
import Linux
import Synchronization

/// A private PostgreSQL, reached by its Unix socket only. One task at a time starts and stops it; the rest may be
/// called from anywhere.
package final class PostgresCluster: Sendable {
    package struct Configuration: Sendable {
        package var binaries: PostgresBinaries
        /// Absolute path of PostgreSQL's own directory (PGDATA). Its parent has to exist and be ours.
        package var dataDirectory: String
        /// Absolute, and short enough for a socket in it.
        package var socketDirectory: String
        package var logFile: String
        /// Whom to run as; nil: ourselves.
        package var account: Account?
        /// On top of the usual settings, by PostgreSQL's names.
        package var settings: [String: String] = [:]
        /// Whether initdb flushes what it made; only a throw-away cluster does without.
        package var flushesNewCluster = true
        /// How long a start may take, crash recovery included.
        package var startWaitMax: Duration = .seconds(300)

        package init(binaries: PostgresBinaries, dataDirectory: String, socketDirectory: String, logFile: String) {
            self.binaries = binaries
            self.dataDirectory = dataDirectory
            self.socketDirectory = socketDirectory
            self.logFile = logFile
        }

    }

    /// PostgreSQL's shutdown modes.
    package enum StopMode: Sendable {
        /// Waits for clients to leave.
        case smart
        /// Ends clients, then writes a checkpoint.
        case fast
        /// Drops everything; the next start recovers from the log.
        case immediate

        var signal: Int32 {
            switch self {
            case .smart: SIGTERM
            case .fast: SIGINT
            case .immediate: SIGQUIT
            }
        }
    }

    /// The role that owns the database `parley`: no superuser.
    package static let ownerRole = "parley"
    package static let superuserRole = "postgres"
    package static let database = "parley"

    package let configuration: Configuration
    private let child = Mutex<ChildProcess?>(nil)

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    package var isRunning: Bool { child.withLock { $0 }?.isRunning ?? false }

    /// The server's process id while it runs.
    package var processID: pid_t? { child.withLock { $0 }.flatMap { $0.isRunning ? $0.pid : nil } }

    /// libpq key words for a database of this cluster. Nothing in them is secret: the directory guards the socket.
    package func conninfo(database: String = database, user: String = ownerRole) -> String {
        func quoted(_ value: String) -> String {
            "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(configuration.socketDirectory)) port=5432 user=\(quoted(user)) dbname=\(quoted(database))"
    }

    /// Starts the server and returns once it takes connections. A server that still runs on this directory from an
    /// earlier life of ours is shut down first.
    ///
    /// - Throws: `EmbeddedPostgresError` (`startFailed`), `CancellationError`; the server doesn't run then.
    package func start() async throws {
        try await endLeftover()
        let configuration = configuration
        let log = try await Blocking.run {
            try Files.write(
                ClusterSettings.text(
                    socketDirectory: configuration.socketDirectory, overrides: configuration.settings),
                to: configuration.dataDirectory + "/" + ClusterSettings.file, mode: 0o600, owner: configuration.account)
            // No server of this cluster runs now, and the directory is its alone. PostgreSQL itself would take the lock
            // of a killed server for live if another process of its user has the number.
            unlink(configuration.socketDirectory + "/.s.PGSQL.5432.lock")
            return try ServerLog.open(configuration.logFile, owner: configuration.account)
        }
        let clock = ContinuousClock()
        let deadline = clock.now + configuration.startWaitMax
        while true {
            let logStart = log.byteCount
            let server = try await ChildProcess.start(command, input: log.null, output: log.file)
            child.withLock { $0 = server }
            do {
                if try await isReady(server, until: deadline) { return }
            } catch {
                await stop(.immediate)
                throw error
            }
            let words = log.text(since: logStart)
            // The sessions of a server that was killed go a moment after it.
            if words.contains("shared memory block"), words.contains("still in use"), clock.now < deadline {
                try await Task.sleep(for: .milliseconds(100))
                continue
            }
            throw EmbeddedPostgresError(
                .startFailed, "PostgreSQL did not start (\(configuration.logFile)): \(ServerLog.reason(in: words)).")
        }
    }

    /// Stops the server and returns when it has ended. Past `waitMax` it is told to drop everything. Does nothing if it
    /// doesn't run. Not cut short by cancellation.
    package func stop(_ mode: StopMode = .fast, waitMax: Duration = .seconds(10)) async {
        guard let server = child.withLock({ $0 }) else { return }
        server.send(mode.signal)
        if await server.waitForExit(atMost: waitMax) != nil { return }
        server.send(StopMode.immediate.signal)
        // The server itself kills sessions that don't end within five seconds of this.
        if await server.waitForExit(atMost: .seconds(7)) != nil { return }
        server.send(SIGKILL)
        _ = await server.waitForExit(atMost: .seconds(1))
    }

    /// Waits until the server has ended, and says how; at once if it doesn't run. Throws only `CancellationError`.
    package func waitUntilExit() async throws -> String {
        guard let server = child.withLock({ $0 }) else { return "was not started" }
        return try await server.waitForExit()
    }

    private var command: Program {
        // A fast shutdown if we die, however: no server is left behind a kill -9.
        Program(
            executable: configuration.binaries.postgres, arguments: ["-D", configuration.dataDirectory],
            account: configuration.account, signalAtOurDeath: "INT")
    }

    /// True once it takes connections, false if it ended.
    private func isReady(_ server: ChildProcess, until deadline: ContinuousClock.Instant) async throws -> Bool {
        while server.isRunning {
            let file = try PostmasterFile.read(dataDirectory: configuration.dataDirectory)
            if let file, file.pid == server.pid, file.status == .ready { return true }
            guard ContinuousClock.now < deadline else {
                throw EmbeddedPostgresError(
                    .startFailed,
                    "PostgreSQL was not ready within \(configuration.startWaitMax): see \(configuration.logFile).")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
