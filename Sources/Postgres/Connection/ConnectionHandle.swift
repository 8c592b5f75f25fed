// Ownership of one libpq connection, and what happens with its notices.

import CLibpq
import Logging

/// Owns one `PGconn` and closes it exactly once.
// SAFETY: libpq allows one thread at a time on a connection. The thread that connects hands it over through a mutex
// and forgets it; from then on only the I/O thread touches it.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let notices: NoticeSink
    /// A pooler stands between. Then nothing that is set for the session lasts: in transaction mode, each transaction
    /// may run in another one. `Dial` finds out.
    var isPooled = false

    init(_ pointer: OpaquePointer, logger: Logger) {
        self.pointer = pointer
        notices = NoticeSink(logger: logger)
        PQsetNoticeReceiver(
            pointer,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue().take(result)
            }, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { PQfinish(pointer) }

    var socket: CInt { PQsocket(pointer) }
    var isBroken: Bool { PQstatus(pointer) == CONNECTION_BAD }
    /// libpq's last error: may hold values and must be classified, not shown.
    var errorText: String { PQerrorMessage(pointer).map { String(cString: $0) } ?? "" }

    /// A pooler may lend us a session in which somebody listens. libpq would keep for ever what nobody asks for.
    func dropNotifications() {
        guard isPooled else { return }
        while let notification = PQnotifies(pointer) { PQfreemem(notification) }
    }

    /// Reads all that has arrived. False when the connection is at its end.
    func consumeInput() -> Bool {
        repeat {
            guard PQconsumeInput(pointer) == 1 else { return false }
        } while parley_tls_pending(pointer) > 0
        return true
    }
}

/// Logs what the server says besides its results: severity and code only, for the text may hold values.
final class NoticeSink: Sendable {
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func take(_ result: OpaquePointer) {
        func field(_ code: Int32) -> Logger.MetadataValue {
            .string(PQresultErrorField(result, code).map { String(cString: $0) } ?? "none")
        }
        logger.debug(
            "notice from the database",
            metadata: ["severity": field(parley_diag_severity), "sqlstate": field(parley_diag_sqlstate)])
    }
}
