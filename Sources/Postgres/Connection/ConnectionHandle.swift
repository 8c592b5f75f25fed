// Ownership of one libpq connection, and what happens with its notices.

import CLibpq
import Logging

/// Owns one `PGconn` and closes it exactly once.
// SAFETY: libpq allows one thread at a time on a connection. The connecting thread passes it on through a mutex and
// forgets it; after that only the I/O thread uses it.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    let notices: NoticeSink
    /// Whether a pooler is between this process and the server. Session settings do not last then: in transaction mode
    /// each transaction may run in another session. `Dial` finds this out.
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
    /// libpq's last error. It may contain values, so it is classified and not shown.
    var errorText: String { PQerrorMessage(pointer).map { String(cString: $0) } ?? "" }

    /// Discards notifications that have arrived. A pooler may assign a session in which another client listens, and
    /// libpq would keep its notifications forever.
    func dropNotifications() {
        guard isPooled else { return }
        while let notification = PQnotifies(pointer) { PQfreemem(notification) }
    }

    /// Reads all bytes that have arrived. Returns false when the connection has ended.
    func consumeInput() -> Bool {
        repeat {
            guard PQconsumeInput(pointer) == 1 else { return false }
        } while parley_tls_pending(pointer) > 0
        return true
    }
}

/// Logs the server's notices: only severity and code, because the text may contain values.
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
