// One connection in libpq's pipeline mode, on the I/O thread: sends statements, takes their results in order.
// Which statement goes where, and what becomes of results, is decided by the pool.

import CLibpq
import DequeModule

/// Many statements under way at once, each with a sync of its own, so that each is a transaction of its own and an
/// error stays with its statement.
final class PipelinedConnection {
    enum Outcome: Sendable {
        case rows(Rows)
        case failure(ServerError)
        /// It did not run because its prepared form is gone or out of date; sent again, it is prepared anew.
        case mustPrepareAgain(ServerError)
    }

    let id: ConnectionID
    private let handle: ConnectionHandle
    private let preparesStatements: Bool
    /// SQL to begin each transaction with; nil where the session is ours and set up.
    private let transactionSetUp: String?
    private var isBroken = false
    /// The generation each statement is prepared in here; see `mustPrepareAgain`.
    private var prepared: [Statement: Int] = [:]
    private var generations: [Statement: Int] = [:]
    private var segments = Deque<Segment>()
    /// Statements given to us while the socket was full: libpq would buffer them, and then nobody could tell which
    /// ones had left when the connection breaks.
    private var backlog = Deque<Request>()
    private(set) var isBlocked = false

    /// What lies between two syncs: one statement, perhaps with the transaction's set-up and its preparation before it.
    private struct Segment {
        let statement: Statement
        /// The preparation's answer is still to come.
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
    /// Statements that never left, in case the connection is lost.
    var unsentCount: Int { backlog.count }
    /// The code of the error that came last before the end, if the server said why it hung up.
    var lastSQLState: String? { segments.first?.result?.serverError?.sqlState }

    /// False when the connection is broken; `unsentCount` tells what never left.
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

    /// Sends what is left. False when the connection is broken.
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

    /// Reads what has arrived and hands over the outcome of each statement that is through, oldest first. A statement
    /// is through when its sync is: only then has it committed. False when the connection is broken.
    func readable(_ handOver: (Outcome) -> Void) -> Bool {
        let isOpen = handle.consumeInput()
        var emptyCount = 0
        while !segments.isEmpty, PQisBusy(handle.pointer) == 0 {
            guard let pointer = PQgetResult(handle.pointer) else {
                // One NULL ends a statement's results. More in a row: nothing will come any more.
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
                // The first error counts, else the last result (those before are the set-up's and the preparation's).
                if segments[0].result?.status != PGRES_FATAL_ERROR { segments[0].result = result }
                if result.status == PGRES_COMMAND_OK { segments[0].awaitsPreparation = false }
            case PGRES_PIPELINE_ABORTED:
                break
            default:
                // COPY and the like have no place in a pipeline, and leave no way on.
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
        // The sync is what commits: a statement whose sync was refused has not run.
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

    /// Nil when the answer makes no sense or the server is going away, and the connection with it.
    private func endSegment() -> Outcome? {
        guard let segment = segments.popFirst(), let result = segment.result else { return nil }
        guard result.status == PGRES_FATAL_ERROR else { return .rows(Rows(result: result)) }
        guard let error = result.serverError else { return nil }
        return mustPrepareAgain(segment, error, result) ? .mustPrepareAgain(error) : .failure(error)
    }

    /// Learns from an error what is prepared here; true when sending the statement again may help.
    private func mustPrepareAgain(_ segment: Segment, _ error: ServerError, _ result: ResultBox) -> Bool {
        guard preparesStatements else { return false }
        let statement = segment.statement
        switch error.sqlState {
        case "26000":
            // Gone: `DEALLOCATE`, `DISCARD ALL`, another server connection behind a pooler, or the preparation that
            // this statement was sent behind has failed.
            prepared[statement] = nil
            return true
        case "42P05":
            // There already: a pooler's server connection has it from another client, with the same SQL.
            prepared[statement] = generations[statement] ?? 0
            return true
        case "0A000" where result.errorSource == "RevalidateCachedQuery":
            // "cached plan must not change result type": this libpq cannot close the old form, so the new one takes
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
