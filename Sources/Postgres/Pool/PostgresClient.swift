// The client as callers see it. `PoolState` decides, `ClientLoop` acts.

import Linux
import Logging

/// Runs statements on a few pipelined connections. One thread does all I/O; callers suspend and never block.
///
/// Each statement is its own transaction: a statement that succeeded is committed. A statement that was sent runs to
/// its end, even if its caller is cancelled.
package final class PostgresClient: Sendable {
    /// An error when the process could not create a descriptor or thread. Every query then throws it.
    private let shared: Result<ClientShared, PostgresError>

    /// Connects at the first query, not here.
    /// - Parameter serverIsReadOnly: called on the I/O thread when the server refused a write because it is read-only.
    ///   The client then replaces its connections.
    package init(
        _ settings: PostgresSettings, logger: Logger, serverIsReadOnly: (@Sendable () -> Void)? = nil
    ) {
        shared = Result { () throws(PostgresError) in
            let shared = try ClientShared(settings, logger: logger, serverIsReadOnly: serverIsReadOnly)
            let sockets = try systemCall("create an epoll set") { () throws(SystemFailure) in
                try EpollSet(waker: shared.waker)
            }
            try systemCall("start a thread") { () throws(SystemFailure) in
                try startThread("pg-io") {
                    var loop = ClientLoop(shared, sockets)
                    loop.run()
                }
            }
            return shared
        }
    }

    deinit {
        if case .success(let shared) = shared { shared.beginShutdown() }
    }

    /// Sends a statement and waits for its result.
    /// - Parameter check: runs first in the same transaction. If it fails, this throws its error, and the statement does
    ///   not run. The statement's snapshot is taken after the check.
    /// - Throws: `PostgresError`, or `CancellationError` as soon as the task is cancelled. A waiting statement is then
    ///   removed; a statement that was sent runs to its end, and its result is dropped.
    package func query(
        _ statement: Statement, _ parameters: [Parameter] = [],
        after check: (sql: String, parameters: [Parameter])? = nil
    ) async throws -> Rows {
        let shared = try shared.get()
        let encoded = try EncodedParameters(parameters)
        let before = try check.map { Request.Check(sql: $0.sql, parameters: try EncodedParameters($0.parameters)) }
        try Task.checkCancellation()
        let id = shared.nextRequestID()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                shared.submit(
                    id,
                    Request(statement: statement, parameters: encoded, check: before) { continuation.resume(with: $0) })
                // A cancellation just before `submit` found nothing to remove.
                if Task.isCancelled { shared.cancel(id) }
            }
        } onCancel: {
            shared.cancel(id)
        }
    }

    /// The same without a task. `done` is called once, on the I/O thread, where it must not block: nothing else is sent
    /// or read meanwhile. If the statement is not accepted, `done` is called before this returns.
    /// - Parameter deadline: when the statement fails if no connection had room for it, if that is before `waitMax`.
    package func begin(
        _ statement: Statement, _ parameters: [Parameter], by deadline: ContinuousClock.Instant? = nil,
        _ done: @escaping @Sendable (Result<Rows, any Error>) -> Void
    ) {
        do {
            let shared = try shared.get()
            let encoded = try EncodedParameters(parameters)
            let request = Request(statement: statement, parameters: encoded, done: done)
            shared.submit(shared.nextRequestID(), request, by: deadline)
        } catch {
            done(.failure(error))
        }
    }

    /// Replaces every connection once its statements in flight have ended, because their server is no longer the right
    /// one.
    package func reconnect() {
        guard case .success(let shared) = shared else { return }
        shared.reconnect()
    }

    /// Sets when the client shuts down by itself: every statement that waits or is in flight then fails. Until then it
    /// works as before. An earlier time replaces a later one.
    package func end(by time: ContinuousClock.Instant) {
        guard case .success(let shared) = shared else { return }
        shared.end(by: time)
    }

    /// Waits for statements in flight (at most `shutdownMax`), fails waiting ones with `closed`, closes all connections
    /// and ends the I/O thread. An attempt to connect that hangs in a name look-up ends by itself.
    package func shutdown() async {
        guard case .success(let shared) = shared else { return }
        shared.beginShutdown()
        await shared.waitForEnd()
    }

    package var statistics: PoolStatistics {
        guard case .success(let shared) = shared else { return PoolStatistics() }
        return shared.state.withLock { $0.pool.statistics }
    }
}
