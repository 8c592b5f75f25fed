// One private PostgreSQL server: creates its data directory, starts it, watches it, stops it. EmbeddedPostgres and
// tests decide where the directory is, who may use it, and what happens after a crash.

import Glibc
import Linux
import Synchronization

/// A private PostgreSQL, reachable through its Unix socket only. One task at a time starts and stops it; other methods
/// may be called from anywhere.
package final class PostgresCluster: Sendable {
    package struct Configuration: Sendable {
        package var binaries: PostgresBinaries
        /// Absolute path of PostgreSQL's own directory (PGDATA). Its parent must exist and belong to this process's
        /// user.
        package var dataDirectory: String
        /// Absolute, and short enough for a socket in it.
        package var socketDirectory: String
        package var logFile: String
        /// The user to run as; nil for this process's user.
        package var account: SystemAccount?
        /// Settings that override the usual ones, by PostgreSQL's names.
        package var settings: [String: String] = [:]
        /// Whether initdb flushes its files to disk. Only temporary clusters do without.
        package var flushesNewCluster = true
        /// The longest start, with crash recovery.
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
        /// Ends sessions, then writes a checkpoint.
        case fast
        /// Stops at once. The next start recovers from the write-ahead log.
        case immediate

        var signal: Int32 {
            switch self {
            case .fast: SIGINT
            case .immediate: SIGQUIT
            }
        }
    }

    /// The role that owns the database `parley`; not a superuser.
    package static let ownerRole = "parley"
    /// The role for programs that send by SQL. The owner may make no roles, and gives it its rights (sql/functions).
    static let senderRole = "parley_sender"
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

    /// libpq keywords for a database of this cluster. They contain no secrets: the directory protects the socket.
    package func conninfo(database: String = database, user: String = ownerRole) -> String {
        func quoted(_ value: String) -> String {
            "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(configuration.socketDirectory)) port=5432 user=\(quoted(user)) dbname=\(quoted(database))"
    }

    /// Starts the server and returns once it accepts connections. If a server of an earlier process still runs in this
    /// directory, it is shut down first.
    ///
    /// - Throws: `EmbeddedPostgresError` (`startFailed`), `CancellationError`; no server runs then.
    package func start() async throws {
        try await endLeftover()
        let configuration = configuration
        let asksForLZ4 = Program(
            executable: configuration.binaries.postgres,
            arguments: ClusterSettings.asksForLZ4(configuration.dataDirectory), account: configuration.account,
            signalAtOurDeath: "KILL")
        let hasLZ4 = try await asksForLZ4.run().status == 0
        let log = try await Blocking.run {
            try Files.write(
                ClusterSettings.text(
                    socketDirectory: configuration.socketDirectory, hasLZ4: hasLZ4,
                    overrides: configuration.settings),
                to: configuration.dataDirectory + "/" + ClusterSettings.file, mode: 0o600, owner: configuration.account)
            // No server of this cluster runs now, and the directory is locked. PostgreSQL itself would believe that a
            // killed server is alive if another process of its user has the same process id.
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
            // The sessions of a killed server end a moment after it.
            if words.contains("shared memory block"), words.contains("still in use"), clock.now < deadline {
                try await Task.sleep(for: .milliseconds(100))
                continue
            }
            throw EmbeddedPostgresError(
                .startFailed, "PostgreSQL did not start (\(configuration.logFile)): \(ServerLog.reason(in: words)).")
        }
    }

    /// Stops the server and returns when it has ended. After `waitMax` it stops the server immediately. Does nothing if
    /// the server is not running. Ignores cancellation.
    package func stop(_ mode: StopMode = .fast, waitMax: Duration = .seconds(10)) async {
        guard let server = child.withLock({ $0 }) else { return }
        server.send(mode.signal)
        if await server.waitForExit(atMost: waitMax) != nil { return }
        server.send(StopMode.immediate.signal)
        // The server kills sessions that do not end within five seconds of this.
        if await server.waitForExit(atMost: .seconds(7)) != nil { return }
        server.send(SIGKILL)
        _ = await server.waitForExit(atMost: .seconds(1))
    }

    /// Waits until the server has ended and returns how; returns at once if it is not running. Throws only
    /// `CancellationError`.
    package func waitUntilExit() async throws -> String {
        guard let server = child.withLock({ $0 }) else { return "was not started" }
        return try await server.waitForExit().description
    }

    private var command: Program {
        // A fast shutdown when this process dies, so that no server is left after a kill -9.
        Program(
            executable: configuration.binaries.postgres, arguments: ["-D", configuration.dataDirectory],
            account: configuration.account, signalAtOurDeath: "INT")
    }

    /// Waits until the server accepts connections. Returns false if it has ended instead.
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
