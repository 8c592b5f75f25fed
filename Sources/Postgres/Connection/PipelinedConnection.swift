// One connection in libpq's pipeline mode, on the I/O thread: sends statements and receives their results in order. The
// pool decides which statement goes where and what happens with results.

import CLibpq
import DequeModule

/// Many statements in flight at once, each with its own sync. So each is its own transaction, and an error affects only
/// its statement.
final class PipelinedConnection {
    enum Outcome: Sendable {
        case rows(Rows)
        case failure(ServerError)
        /// The statement did not run, because its prepared form is missing or outdated. When it is sent again, it is
        /// prepared again.
        case mustPrepareAgain(ServerError)
    }

    let id: ConnectionID
    private let handle: ConnectionHandle
    private let preparesStatements: Bool
    /// SQL to begin each transaction with; nil where the session's own settings last.
    private let transactionSetUp: String?
    private var isBroken = false
    /// The generation in which each statement is prepared here; see `mustPrepareAgain`.
    private var prepared: [Statement: Int] = [:]
    private var generations: [Statement: Int] = [:]
    private var segments = Deque<Segment>()
    /// Statements received while the socket was full. libpq would buffer them, and after the connection broke it
    /// would be unknown which of them were sent.
    private var backlog = Deque<Request>()
    private(set) var isBlocked = false

    /// The part between two syncs: one statement, perhaps after the transaction's setup, a check, and its preparation.
    private struct Segment {
        let statement: Statement
        /// The answer to the preparation has not arrived yet.
        var awaitsPreparation: Bool
        var result: ResultBox?
    }

    init?(_ handle: ConnectionHandle, id: ConnectionID, _ settings: PostgresSettings) {
        self.id = id
        self.handle = handle
        preparesStatements =
            switch settings.preparation {
            case .auto: !handle.isPooled
            case .always: true
            case .never: false
            }
        transactionSetUp = handle.isPooled ? SessionSettings(settings).setUpTransaction : nil
        guard PQenterPipelineMode(handle.pointer) == 1 else { return nil }
    }

    var socket: CInt { handle.socket }
    /// Statements that were never sent, in case the connection is lost.
    var unsentCount: Int { backlog.count }
    /// The code of the last error before the end, if the server said why it closed the connection.
    var lastSQLState: String? { segments.first?.result?.serverError?.sqlState }

    /// Returns false when the connection is broken; `unsentCount` then counts what was never sent.
    func send(_ request: Request) -> Bool {
        guard !isBroken, !isBlocked, backlog.isEmpty else {
            backlog.append(request)
            return !isBroken
        }
        guard enqueue(request) else {
            backlog.prepend(request)
            isBroken = true
            return false
        }
        return flush()
    }

    /// Sends the backlog. Returns false when the connection is broken.
    func writable() -> Bool {
        guard flush() else { return false }
        while !isBlocked, let request = backlog.popFirst() {
            guard enqueue(request) else {
                backlog.prepend(request)
                return false
            }
            guard flush() else { return false }
        }
        return true
    }

    /// Reads what has arrived and passes on the outcome of each finished statement, oldest first. A statement is
    /// finished when its sync arrives: only then has it committed. Returns false when the connection is broken.
    func readable(_ handOver: (Outcome) -> Void) -> Bool {
        let isOpen = handle.consumeInput()
        var emptyCount = 0
        while !segments.isEmpty, PQisBusy(handle.pointer) == 0 {
            guard let pointer = PQgetResult(handle.pointer) else {
                // One NULL ends a statement's results. Several in a row mean that nothing more will arrive.
                emptyCount += 1
                guard emptyCount < 3 else { return false }
                continue
            }
            emptyCount = 0
            let result = ResultBox(pointer, notices: handle.notices)
            switch result.status {
            case PGRES_PIPELINE_SYNC:
                guard let outcome = endSegment() else { return false }
                handOver(outcome)
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_FATAL_ERROR:
                // The first error counts, otherwise the last result: those before are from the setup, the check and the
                // preparation.
                if segments[0].result?.status != PGRES_FATAL_ERROR { segments[0].result = result }
                if result.status == PGRES_COMMAND_OK { segments[0].awaitsPreparation = false }
            case PGRES_PIPELINE_ABORTED:
                break
            default:
                // COPY and similar commands are impossible in a pipeline, and the connection cannot recover.
                return false
            }
        }
        handle.dropNotifications()
        // libpq flushes while it reads, so a full socket may have room again.
        return isOpen && !handle.isBroken && (isBlocked ? writable() : true)
    }

    private func enqueue(_ request: Request) -> Bool {
        let (connection, statement) = (handle.pointer, request.statement)
        if let transactionSetUp {
            guard PQsendQueryParams(connection, transactionSetUp, 0, nil, nil, nil, nil, 1) == 1 else { return false }
        }
        if let check = request.check {
            let isSent = check.parameters.withPointers { count, values, lengths, formats in
                PQsendQueryParams(connection, check.sql, count, nil, values, lengths, formats, 1) == 1
            }
            guard isSent else { return false }
        }
        let isPrepared = !preparesStatements || prepared[statement] != nil
        let isSent = request.parameters.withPointers { count, values, lengths, formats in
            guard preparesStatements else {
                return PQsendQueryParams(connection, statement.sql, count, nil, values, lengths, formats, 1) == 1
            }
            let generation = prepared[statement] ?? generations[statement] ?? 0
            let name = generation == 0 ? statement.serverName : "\(statement.serverName)_\(generation)"
            if !isPrepared {
                guard PQsendPrepare(connection, name, statement.sql, 0, nil) == 1 else { return false }
                prepared[statement] = generation
            }
            return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1
        }
        // The sync commits: a statement whose sync was refused has not run.
        guard isSent, PQpipelineSync(connection) == 1 else { return false }
        segments.append(Segment(statement: statement, awaitsPreparation: !isPrepared))
        return true
    }

    private func flush() -> Bool {
        switch PQflush(handle.pointer) {
        case 0: isBlocked = false
        case 1: isBlocked = true
        default: isBroken = true
        }
        return !isBroken
    }

    /// Returns nil when the answer is invalid or the server shuts down; the connection ends then.
    private func endSegment() -> Outcome? {
        guard let segment = segments.popFirst(), let result = segment.result else { return nil }
        guard result.status == PGRES_FATAL_ERROR else { return .rows(Rows(result: result)) }
        guard let error = result.serverError else { return nil }
        return mustPrepareAgain(segment, error, result) ? .mustPrepareAgain(error) : .failure(error)
    }

    /// Updates from an error what is prepared here. Returns true when sending the statement again may help.
    private func mustPrepareAgain(_ segment: Segment, _ error: ServerError, _ result: ResultBox) -> Bool {
        guard preparesStatements else { return false }
        let statement = segment.statement
        switch error.sqlState {
        case "26000":
            // Missing: `DEALLOCATE`, `DISCARD ALL`, another server connection behind a pooler, or the preparation just
            // before this statement failed.
            prepared[statement] = nil
            return true
        case "42P05":
            // Exists already: a pooler's server connection has it from another client, with the same SQL.
            prepared[statement] = generations[statement] ?? 0
            return true
        case "0A000" where result.errorSource == "RevalidateCachedQuery":
            // "cached plan must not change result type": this libpq cannot close the old form, so the new one gets
            // another name. Rare: only when a migration changes what a statement returns.
            prepared[statement] = nil
            generations[statement, default: 0] += 1
            return true
        default:
            if segment.awaitsPreparation { prepared[statement] = nil }
            return false
        }
    }
}
