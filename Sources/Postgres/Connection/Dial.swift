// Connects: name look-up, authentication, session settings. It blocks, so it runs on a thread of its own.

import CLibpq
import Glibc
import Linux
import Logging

enum Dial {
    /// Connects and sets the session up. libpq tries several hosts one after another, but waits for a host that never
    /// answers (a dead machine sends no refusal). The next attempt then begins with the host after it.
    /// - Parameter stop: ends the attempt early, except inside the system's name look-up, which cannot be interrupted.
    static func connect(
        _ settings: PostgresSettings, logger: Logger, stop: Waker?
    ) throws(ConnectFailure) -> BlockingConnection {
        let hosts = HostList(conninfo: settings.conninfo)
        var first = 0
        while true {
            do throws(ConnectFailure) {
                return try attempt(settings, hosts.words(from: first), logger: logger, stop: stop)
            } catch {
                first += 1
                guard error == .timedOut, first < hosts.count else { throw error }
            }
        }
    }

    private static func attempt(
        _ settings: PostgresSettings, _ hosts: [(String, String)], logger: Logger, stop: Waker?
    ) throws(ConnectFailure) -> BlockingConnection {
        let deadline = Instant.now + settings.connectTimeout
        let connection = BlockingConnection(try start(settings, hosts, logger: logger), stop: stop)
        let handle = connection.handle
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status != PGRES_POLLING_FAILED else { throw ConnectFailure(libpqText: handle.errorText) }
            let isReading = status == PGRES_POLLING_READING
            switch wait(for: handle.socket, isReading ? CInt(POLLIN) : CInt(POLLOUT), stop: stop, until: deadline) {
            case .ready: status = PQconnectPoll(handle.pointer)
            case .stopped: throw .stopped
            case .timedOut: throw .timedOut
            }
        }
        PQsetErrorVerbosity(handle.pointer, PQERRORS_DEFAULT)
        guard PQsetnonblocking(handle.pointer, 1) == 0 else { throw ConnectFailure(libpqText: handle.errorText) }
        try setUp(connection, settings, deadline: deadline)
        return connection
    }

    private static func start(
        _ settings: PostgresSettings, _ hosts: [(String, String)], logger: Logger
    ) throws(ConnectFailure) -> ConnectionHandle {
        guard let options = PQconninfoParse(settings.conninfo, nil) else { throw .malformed }
        PQconninfoFree(options)
        // Later keywords override earlier ones: the connection string may override those before it, but not those after
        // it.
        let words: [(String, String)] = [
            ("application_name", settings.applicationName),
            // A host that vanishes is noticed within a minute, under load within 30 s. TCP only.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
            ("dbname", settings.conninfo),
            ("client_encoding", "UTF8"),
        ]
        let pointer = withCStrings((words + hosts).map(\.0)) { keys in
            withCStrings((words + hosts).map(\.1)) { values in PQconnectStartParams(keys, values, 1) }
        }
        guard let pointer else { throw ConnectFailure(reason: "out of memory") }
        let handle = ConnectionHandle(pointer, logger: logger)
        guard !handle.isBroken else { throw ConnectFailure(libpqText: handle.errorText) }
        // Only the verbose form contains the SQLSTATE of a refusal.
        PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
        return handle
    }

    /// Sets the session up by a statement, because PgBouncer refuses start-up parameters. Behind a pooler, the server
    /// process that answers differs from the one announced at the start.
    private static func setUp(
        _ connection: BlockingConnection, _ settings: PostgresSettings, deadline: Instant
    ) throws(ConnectFailure) {
        let handle = connection.handle
        let rows: Rows
        do {
            rows = try connection.execute(
                SessionSettings(settings).setUp, [.int4(PQbackendPID(handle.pointer))], until: deadline)
        } catch .server(let error) {
            throw ConnectFailure(sqlState: error.sqlState, message: "the session settings were refused")
        } catch .waitTimedOut {
            throw .timedOut
        } catch .closed {
            throw .stopped
        } catch {
            throw ConnectFailure(reason: "the server closed the connection")
        }
        let found: (isPooled: Bool, isolation: String, isReadOnly: Bool)?
        do { found = try rows.first.map { (try $0.bool(0), try $0.text(1), try $0.bool(2)) } } catch { found = nil }
        guard let found else { throw ConnectFailure(reason: "the answer to the session settings is invalid") }
        // Behind a pooler this client cannot set the isolation level.
        guard !found.isPooled || found.isolation == "read committed" else { throw .isolation }
        guard !settings.isReadOnly || settings.acceptsStandby || !found.isReadOnly else { throw .readOnly }
        handle.isPooled = found.isPooled
    }

    /// A null-terminated array of C strings, valid inside `body`.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { buffer in
            // The buffer is never empty: it ends with nil.
            body(buffer.baseAddress.unsafelyUnwrapped)
        }
    }
}

extension Duration {
    /// For PostgreSQL's settings in milliseconds, where zero means none: a shorter time counts as 1 ms.
    var wholeMilliseconds: Int64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let milliseconds = Int64(clamping: min(seconds, 2_000_000)) * 1000 + attoseconds / 1_000_000_000_000_000
        return max(1, milliseconds)
    }
}
