// The client as callers see it. The pool's decisions are in `PoolState`, its actions in `ClientLoop`.

import Linux
import Logging

/// Runs statements on a few pipelined connections. One thread does all I/O; callers suspend and never block.
///
/// Each statement is a transaction of its own: what succeeded is committed. A statement that was sent runs to its end,
/// whatever becomes of its caller.
package final class PostgresClient: Sendable {
    /// An error when the process had no descriptor or thread to give: then every query fails with it.
    private let shared: Result<ClientShared, PostgresError>

    /// Connects at the first query, not here.
    /// - Parameter serverIsReadOnly: called on the I/O thread when a write was refused because the server takes none. The
    ///   client then replaces its connections by itself.
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
    /// - Throws: `PostgresError`, or `CancellationError` as soon as the task is cancelled: a statement that was still
    ///   waiting is taken out of the queue, one that was sent runs to its end and its result is dropped.
    package func query(_ statement: Statement, _ parameters: [Parameter] = []) async throws -> Rows {
        let shared = try shared.get()
        let encoded = try EncodedParameters(parameters)
        try Task.checkCancellation()
        let id = shared.nextRequestID()
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                shared.submit(
                    id, Request(statement: statement, parameters: encoded) { continuation.resume(with: $0) })
                // A cancellation just before `submit` found nothing to take out.
                if Task.isCancelled { shared.cancel(id) }
            }
        } onCancel: {
            shared.cancel(id)
        }
    }

    /// The same without a task. `done` hears of the end once, on the I/O thread, where it must not block: nothing else is
    /// sent or read meanwhile. When the statement isn't even taken in, it hears so before this returns.
    /// - Parameter deadline: when it fails if no connection had room for it, if that is sooner than `waitMax` has it.
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

    /// Replaces every connection once its statements in flight have ended: the server that they lead to is not, or no
    /// longer, the one to ask.
    package func reconnect() {
        guard case .success(let shared) = shared else { return }
        shared.reconnect()
    }

    /// Lets what is in flight end (at most `shutdownMax`), fails what waits with `closed`, closes all connections and
    /// ends the I/O thread. An attempt to connect that hangs in a name look-up is left to end by itself.
    package func shutdown() async {
        guard case .success(let shared) = shared else { return }
        shared.beginShutdown()
        await shared.waitForEnd()
    }

    package var statistics: PoolStatistics {
        guard case .success(let shared) = shared else { return PoolStatistics() }
        return shared.state.withLock { $0.pool.statistics }
    }

    /// Lives until its task is cancelled, then shuts down: for a service group.
    package func run() async {
        // Sleeping throws only when it is cancelled, which is what is waited for.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        await shutdown()
    }
}
