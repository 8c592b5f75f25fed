// The state that callers, the I/O thread and connecting threads share: the pool under its lock, and the wakers.

import CLibpq
import Linux
import Logging
import Synchronization
import Telemetry

/// A statement with its completion handler. The pool makes sure that each handler is called exactly once.
struct Request: Sendable {
    let statement: Statement
    let parameters: EncodedParameters
    /// A statement that runs before it in the same transaction, with a snapshot of its own. If it fails, `statement` does
    /// not run. It is never prepared.
    var check: Check?
    let done: @Sendable (Result<Rows, any Error>) -> Void

    struct Check: Sendable {
        let sql: String
        let parameters: EncodedParameters
    }
}

/// The lock is held for short decisions only. Handlers and libpq are called after it is released.
final class ClientShared: Sendable {
    struct State: Sendable {
        var pool: PoolState<Request>
        /// Finished attempts to connect, for the I/O thread.
        var arrivals: [Arrival] = []
        var isWakePending = false
        /// Callers that wait for the I/O thread to end; nil once it has ended.
        var shutdownWaiters: [CheckedContinuation<Void, Never>]? = []
    }

    struct Arrival: Sendable {
        let connection: ConnectionID
        let result: Result<ConnectionHandle, ConnectFailure>
    }

    let settings: PostgresSettings
    let logger: Logger
    /// Of attempts to connect: while the server is away, each connection tries again and again.
    let log: RateLimitedLog
    let state: Mutex<State>
    /// Wakes the I/O thread.
    let waker: Waker
    /// Ends attempts to connect.
    let stop: Waker
    let serverIsReadOnly: (@Sendable () -> Void)?
    private let requestCount = Atomic<RequestID>(0)

    init(
        _ settings: PostgresSettings, logger: Logger, serverIsReadOnly: (@Sendable () -> Void)?
    ) throws(PostgresError) {
        self.settings = settings
        self.logger = logger
        log = RateLimitedLog(logger)
        self.serverIsReadOnly = serverIsReadOnly
        waker = try systemCall("create an eventfd") { () throws(SystemFailure) in try Waker() }
        stop = try systemCall("create an eventfd") { () throws(SystemFailure) in try Waker() }
        var limits = PoolState<Request>.Limits()
        limits.connectionCountMax = max(1, settings.connectionCountMax)
        limits.inFlightPerConnectionMax = max(1, settings.inFlightPerConnectionMax)
        limits.waitingCountMax = settings.waitingCountMax
        limits.waitMax = settings.waitMax
        limits.stallMax = settings.statementTimeout > .zero ? settings.statementTimeout + settings.stallGrace : nil
        state = Mutex(State(pool: PoolState(limits: limits)))
    }

    func nextRequestID() -> RequestID { requestCount.add(1, ordering: .relaxed).newValue }

    func submit(_ id: RequestID, _ request: Request, by deadline: Instant? = nil) {
        let (failure, mustWake) = state.withLock { state in
            if let failure = state.pool.submit(id, request, by: deadline, now: .now) {
                return (failure as PostgresError?, false)
            }
            return (nil, state.takeWake())
        }
        if let failure { request.done(.failure(failure)) }
        if mustWake { waker.wake() }
    }

    func cancel(_ id: RequestID) {
        let request = state.withLock { $0.pool.cancel(id) }
        request?.done(.failure(CancellationError()))
    }

    /// Called by the connecting thread. Drops the connection, which closes it, if the I/O thread has ended.
    func arrive(_ arrival: Arrival) {
        let mustWake = state.withLock { state in
            guard state.shutdownWaiters != nil else { return false }
            state.arrivals.append(arrival)
            return state.takeWake()
        }
        if mustWake { waker.wake() }
    }

    func reconnect() {
        let mustWake = state.withLock { state in
            state.pool.leaveConnections(now: .now, random: .random(in: 0..<1))
            return state.takeWake()
        }
        if mustWake { waker.wake() }
    }

    func beginShutdown() {
        let mustWake = state.withLock { state in
            state.pool.beginShutdown(now: .now, drainMax: settings.shutdownMax)
            return state.takeWake()
        }
        if mustWake { waker.wake() }
    }

    func end(by time: Instant) {
        let mustWake = state.withLock { state in
            state.pool.end(by: time)
            return state.takeWake()
        }
        if mustWake { waker.wake() }
    }

    /// Returns when the I/O thread has ended.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                state.shutdownWaiters?.append(continuation)
                return state.shutdownWaiters == nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    func ended() {
        stop.interrupt()
        let waiters = state.withLock { state in
            state.arrivals = []
            return state.shutdownWaiters.take() ?? []
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension ClientShared.State {
    /// Returns true for the first caller that has work for the I/O thread since its last pass.
    fileprivate mutating func takeWake() -> Bool {
        defer { isWakePending = true }
        return !isWakePending
    }
}
