// One connection used by one thread that may block: for connecting, listening and migrating. Not for queries.

import CLibpq
import Glibc
import Linux
import Logging

/// Runs one statement at a time; each wait is bounded and can be interrupted. After any error other than `.server` the
/// state of the connection is unknown, and it must be dropped.
final class BlockingConnection {
    let handle: ConnectionHandle
    private let stop: Waker?

    init(_ handle: ConnectionHandle, stop: Waker?) {
        self.handle = handle
        self.stop = stop
    }

    /// Runs SQL by the simple protocol: several statements are one transaction. Returns the last result.
    /// - Throws: `server`, `connectionLost`, `waitTimedOut` at the deadline, `closed` when stopped.
    @discardableResult
    func execute(_ sql: String, until deadline: Instant) throws(PostgresError) -> Rows? {
        guard PQsendQuery(handle.pointer, sql) == 1 else { throw .connectionLost(wasSent: false) }
        return try results(until: deadline)
    }

    /// Runs one statement with parameters; the result is in binary form.
    @discardableResult
    func execute(
        _ sql: String, _ parameters: [Parameter], until deadline: Instant
    ) throws(PostgresError) -> Rows {
        let encoded = try EncodedParameters(parameters)
        let isSent = encoded.withPointers { count, values, lengths, formats in
            PQsendQueryParams(handle.pointer, sql, count, nil, values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw .connectionLost(wasSent: false) }
        guard let rows = try results(until: deadline) else { throw .connectionLost(wasSent: true) }
        return rows
    }

    private func results(until deadline: Instant) throws(PostgresError) -> Rows? {
        try flush(until: deadline)
        var last: Rows?
        var failure: ServerError?
        while true {
            while PQisBusy(handle.pointer) == 1 {
                switch wait(for: handle.socket, CInt(POLLIN), stop: stop, until: deadline) {
                case .ready: guard handle.consumeInput() else { throw .connectionLost(wasSent: true) }
                case .stopped: throw .closed
                case .timedOut: throw .waitTimedOut
                }
            }
            guard let pointer = PQgetResult(handle.pointer) else { break }
            let result = ResultBox(pointer, notices: handle.notices)
            switch result.status {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: last = Rows(result: result)
            case PGRES_FATAL_ERROR:
                guard let error = result.serverError else { throw .connectionLost(wasSent: true) }
                failure = failure ?? error
            default: throw .connectionLost(wasSent: true)
            }
        }
        guard !handle.isBroken else { throw .connectionLost(wasSent: true) }
        if let failure { throw .server(failure) }
        return last
    }

    private func flush(until deadline: Instant) throws(PostgresError) {
        while true {
            switch PQflush(handle.pointer) {
            case 0: return
            case 1: break
            default: throw .connectionLost(wasSent: true)
            }
            switch wait(for: handle.socket, CInt(POLLIN | POLLOUT), stop: stop, until: deadline) {
            // A server that cannot write its answer stops reading, so both directions must progress.
            case .ready: guard handle.consumeInput() else { throw .connectionLost(wasSent: true) }
            case .stopped: throw .closed
            case .timedOut: throw .waitTimedOut
            }
        }
    }
}
